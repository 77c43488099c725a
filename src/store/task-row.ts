import type { Micros } from '../domain/instant.js';
import type { Task } from '../domain/task.js';
import type { TaskState } from '../domain/task-state.js';
import { leaseEndCodes, statusCodes } from './codes.js';

/** A row as the driver gives it: int8 as bigint, everything named as in SQL. */
export type Row = Record<string, unknown>;

export const micros = (value: unknown): Micros => Number(value);
export const maybeMicros = (value: unknown): Micros | undefined =>
  value === null ? undefined : Number(value);
export const maybeText = (value: unknown): string | undefined =>
  value === null ? undefined : (value as string);

const STATE_COLUMNS = [
  'task_id',
  'status',
  'priority',
  'unmet',
  'blockers',
  'dependents',
  'lease_version',
  'deps_version',
  'content_version',
  'fencing_token',
  'lease_id',
  'principal',
  'execution_id',
  'granted_at',
  'expires_at',
  'ttl',
  'aged_from',
  'prev_lease_id',
  'prev_principal',
  'prev_execution_id',
  'prev_token',
  'prev_end',
  'prev_ended_at',
  'attempt',
  'expiries_in_a_row',
  'note_count',
] as const;

const TASK_COLUMNS = [
  'id',
  'project',
  'seq',
  'title',
  'body',
  'labels',
  'plan_id',
  'plan_order',
  'parent_id',
  'external_key',
  'assignee',
  'result',
  'created_at',
  'created_by',
  'updated_at',
  'closed_at',
  'closed_by',
] as const;

/** An array comes as JSON: the driver does not know Postgres's array types, see database.ts. */
const selected = (alias: string, column: string) =>
  column === 'labels' ? `to_jsonb(${alias}.labels)` : `${alias}.${column}`;

const prefixed = (alias: string, prefix: string, columns: readonly string[]) =>
  columns.map((column) => `${selected(alias, column)} AS ${prefix}${column}`).join(', ');

/** The select lists of `task_state s` and `task t`, each column with a prefix, as {@link stateOf} and {@link taskOf} read them. */
export const SELECT_STATE = prefixed('s', 's_', STATE_COLUMNS);
export const SELECT_TASK = `${prefixed('t', 't_', TASK_COLUMNS)},
  CASE WHEN s.blockers > 0 THEN (
    SELECT json_agg(blocker_id ORDER BY blocker_id) FROM dependency WHERE project = t.project AND task_id = t.id
  ) END AS t_blocked_by`;

/** The same columns once more, from a part of a statement that is named `state`. */
export const STATE_OUTPUT = STATE_COLUMNS.map((column) => `state.s_${column}`).join(', ');

export function stateOf(row: Row): TaskState {
  return {
    taskId: row.s_task_id as string,
    status: statusCodes.name(row.s_status as number),
    unmet: row.s_unmet as number,
    blockers: row.s_blockers as number,
    dependents: row.s_dependents as number,
    leaseVersion: row.s_lease_version as bigint,
    depsVersion: row.s_deps_version as bigint,
    contentVersion: row.s_content_version as bigint,
    fencingToken: row.s_fencing_token as bigint,
    lease:
      row.s_lease_id === null
        ? undefined
        : {
            id: row.s_lease_id as string,
            holder: {
              principal: row.s_principal as string,
              executionId: row.s_execution_id as string,
            },
            grantedAt: micros(row.s_granted_at),
            expiresAt: micros(row.s_expires_at),
            ttl: micros(row.s_ttl),
          },
    previous:
      row.s_prev_lease_id === null
        ? undefined
        : {
            id: row.s_prev_lease_id as string,
            holder: {
              principal: row.s_prev_principal as string,
              executionId: row.s_prev_execution_id as string,
            },
            fencingToken: row.s_prev_token as bigint,
            end: leaseEndCodes.name(row.s_prev_end as number),
            endedAt: micros(row.s_prev_ended_at),
          },
    agedFrom: maybeMicros(row.s_aged_from),
    attempt: row.s_attempt as number,
    expiriesInARow: row.s_expiries_in_a_row as number,
    noteCount: row.s_note_count as number,
  };
}

export function taskOf(row: Row): Task {
  return {
    id: row.t_id as string,
    project: row.t_project as string,
    seq: Number(row.t_seq),
    title: row.t_title as string,
    body: row.t_body as string,
    priority: row.s_priority as number,
    labels: row.t_labels as string[],
    planId: maybeText(row.t_plan_id),
    planOrder: row.t_plan_order as number,
    parentId: maybeText(row.t_parent_id),
    blockedBy: (row.t_blocked_by as string[] | null) ?? [],
    externalKey: maybeText(row.t_external_key),
    assignee: maybeText(row.t_assignee) ?? '',
    result: maybeText(row.t_result) ?? '',
    createdAt: micros(row.t_created_at),
    createdBy: row.t_created_by as string,
    updatedAt: micros(row.t_updated_at),
    closedAt: maybeMicros(row.t_closed_at),
    closedBy: maybeText(row.t_closed_by),
  };
}
