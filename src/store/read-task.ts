import type { Snapshot } from '../domain/decision.js';
import type { NamedLease } from '../domain/lease-end.js';
import type { Dependent, UnmetDependency } from '../domain/neighbours.js';
import type { Settings } from '../domain/settings.js';
import type { Task } from '../domain/task.js';
import { enforcementCodes, leaseEndCodes, statusCodes } from './codes.js';
import type { Sql } from './database.js';
import type { RememberedRequest, RequestKey } from './requests.js';
import { textByShape } from './statement-text.js';
import { maybeMicros, micros, type Row, SELECT_STATE, SELECT_TASK, stateOf, taskOf } from './task-row.js';

/** What to read along with a task, in the same statement and so of the same moment. */
export interface ReadAlong {
  /** The lease that a proof or a renewal names. */
  readonly leaseId?: string | undefined;
  /** Whether this execution was ended. */
  readonly execution?: { readonly principal: string; readonly id: string } | undefined;
  /** Whether this request was applied before. */
  readonly request?: RequestKey | undefined;
  /** Those who wait for the task. */
  readonly dependents?: boolean;
}

/** The most neighbours of a task that one answer tells. */
const MAX_NEIGHBOURS = 100;

/** One consistent read of a task. */
export interface TaskRead extends Snapshot {
  readonly task: Task;
  /** The named lease, when the project has it; perhaps on another task. */
  readonly namedLease: NamedLease | undefined;
  readonly execution: Execution;
  /** What it waits for and is unfinished, at most 100. */
  readonly unmet: readonly UnmetDependency[];
  /** Who waits for it, at most 100, if that was asked for. */
  readonly dependents: readonly Dependent[];
}

type Execution = 'UNKNOWN' | 'RUNNING' | 'ENDED';

export interface ReadResult {
  readonly found: TaskRead | undefined;
  readonly request: RememberedRequest | undefined;
  readonly execution: Execution;
}

/** The select list of `project p` as {@link settingsOf} reads it. */
export const SELECT_SETTINGS = 'p.enforcement, p.default_ttl, p.max_ttl, p.max_age, p.max_expiries';

export function settingsOf(row: Row, defaults: Settings): Settings {
  const maxTtl = maybeMicros(row.max_ttl) ?? defaults.maxTtl;
  return {
    enforcement:
      row.enforcement === null ? defaults.enforcement : enforcementCodes.name(row.enforcement as number),
    defaultTtl: Math.min(maybeMicros(row.default_ttl) ?? defaults.defaultTtl, maxTtl),
    maxTtl,
    maxAge: maybeMicros(row.max_age) ?? defaults.maxAge,
    maxExpiries: (row.max_expiries as number | null) ?? defaults.maxExpiries,
  };
}

/** One task to read: the named one, or else the task of the named lease. */
export interface ReadItem extends ReadAlong {
  readonly project: string;
  readonly taskId?: string | undefined;
}

/** Reads tasks without a lock: step one of every mutation, and all that a refusal costs. */
export async function readTasks(
  sql: Sql,
  defaults: Settings,
  items: readonly ReadItem[],
): Promise<ReadResult[]> {
  const statement = statementFor({
    lease: items.some(({ leaseId }) => leaseId !== undefined),
    execution: items.some(({ execution }) => execution !== undefined),
    request: items.some(({ request }) => request !== undefined),
  });
  const rows: Row[] = await sql.unsafe(statement, [itemsJson(items)], { prepare: true });
  return rows.map((row, i) => resultOf(row, defaults, items[i]?.request));
}

/** The unfinished tasks that `s` waits for. A lapsed lease no longer holds one. */
const UNMET = `
  SELECT json_agg(u) FROM (
    SELECT d.blocker_id AS "taskId", bt.title,
      CASE WHEN b.status = 2 AND b.expires_at <= holdfast_now() THEN 1 ELSE b.status END AS status,
      CASE WHEN b.expires_at > holdfast_now() THEN b.principal END AS principal, b.execution_id AS "executionId"
    FROM dependency d
    CROSS JOIN LATERAL (SELECT * FROM task_state WHERE project = d.project AND task_id = d.blocker_id OFFSET 0) b
    CROSS JOIN LATERAL (SELECT seq, title FROM task WHERE project = d.project AND id = d.blocker_id OFFSET 0) bt
    WHERE d.project = s.project AND d.task_id = s.task_id
      AND NOT (b.status = 3 OR (b.status = 4 AND d.accept_dropped))
    ORDER BY bt.seq LIMIT ${MAX_NEIGHBOURS}) u`;

/** A row or none, looked up by its key. OFFSET 0 keeps the planner from scanning a table that is small as yet. */
const byKey = (alias: string, table: string, key: string) =>
  `LEFT JOIN LATERAL (SELECT * FROM ${table} WHERE ${key} OFFSET 0) ${alias} ON true`;

/** In place of a look-up that nobody asked for: its columns, all null. */
const none = (alias: string, table: string) => `LEFT JOIN ${table} ${alias} ON false`;

/** What the items name beside tasks: nothing else is looked up. */
interface Shape {
  readonly lease: boolean;
  readonly execution: boolean;
  readonly request: boolean;
}

const statementFor = textByShape<Shape>(
  (shape) => `
    SELECT holdfast_now() AS now, ${SELECT_SETTINGS}, ${SELECT_STATE}, ${SELECT_TASK},
      l.id AS l_id, l.task_id AS l_task_id, l.fencing_token AS l_fencing_token, l.principal AS l_principal,
      l."end" AS l_end, x.id AS execution_id, x.ended_at AS execution_ended_at,
      r.ref AS request_ref, encode(r.body_hash, 'hex') AS request_body_hash,
      CASE WHEN s.unmet > 0 THEN (${UNMET}) END AS unmet,
      CASE WHEN q.dependents AND s.dependents > 0 THEN (
        SELECT json_agg(d) FROM (
          SELECT task_id AS "taskId", accept_dropped AS "acceptDropped" FROM dependency
          WHERE project = s.project AND blocker_id = s.task_id ORDER BY task_id LIMIT ${MAX_NEIGHBOURS}) d
      ) END AS dependents
    FROM jsonb_to_recordset($1::text::jsonb) AS q(
      i integer, project text, task_id text, lease_id text, principal text, execution_id text, rpc text, request_id text,
      dependents boolean)
    ${byKey('p', 'project', 'id = q.project')}
    ${shape.lease ? byKey('l', 'lease', 'project = q.project AND id = q.lease_id') : none('l', 'lease')}
    ${byKey('s', 'task_state', 'project = q.project AND task_id = coalesce(q.task_id, l.task_id)')}
    ${byKey('t', 'task', 'project = s.project AND id = s.task_id')}
    ${
      shape.execution
        ? byKey('x', 'execution', 'project = q.project AND principal = q.principal AND id = q.execution_id')
        : none('x', 'execution')
    }
    ${
      shape.request
        ? byKey(
            'r',
            'request',
            'project = q.project AND principal = q.principal AND rpc = q.rpc AND request_id = q.request_id',
          )
        : none('r', 'request')
    }
    ORDER BY q.i`,
);

interface UnmetRow {
  readonly taskId: string;
  readonly title: string;
  readonly status: number;
  readonly principal: string | null;
  readonly executionId: string;
}

const unmetOf = ({ taskId, title, status, principal, executionId }: UnmetRow): UnmetDependency => ({
  taskId,
  title,
  status: statusCodes.name(status),
  holder: principal === null ? undefined : { principal, executionId },
});

function itemsJson(items: readonly ReadItem[]): string {
  return JSON.stringify(
    items.map(({ project, taskId, leaseId, execution, request, dependents }, i) => ({
      i,
      project,
      task_id: taskId,
      lease_id: leaseId,
      principal: execution?.principal ?? request?.principal,
      execution_id: execution?.id,
      rpc: request?.rpc,
      request_id: request?.requestId,
      dependents,
    })),
  );
}

function resultOf(row: Row, defaults: Settings, request: RequestKey | undefined): ReadResult {
  return {
    found: row.s_task_id === null ? undefined : foundOf(row, defaults),
    execution: executionOf(row),
    request:
      row.request_ref === null
        ? undefined
        : { ref: row.request_ref as string, sameBody: row.request_body_hash === request?.bodyHash },
  };
}

function foundOf(row: Row, defaults: Settings): TaskRead {
  return {
    now: micros(row.now),
    state: stateOf(row),
    task: taskOf(row),
    settings: settingsOf(row, defaults),
    namedLease:
      row.l_id === null
        ? undefined
        : {
            id: row.l_id as string,
            taskId: row.l_task_id as string,
            fencingToken: row.l_fencing_token as bigint,
            principal: row.l_principal as string,
            end: row.l_end === null ? undefined : leaseEndCodes.name(row.l_end as number),
          },
    execution: executionOf(row),
    unmet: ((row.unmet as UnmetRow[] | null) ?? []).map(unmetOf),
    dependents: (row.dependents as Dependent[] | null) ?? [],
  };
}

function executionOf(row: Row): Execution {
  if (row.execution_id === null) return 'UNKNOWN';
  return row.execution_ended_at === null ? 'RUNNING' : 'ENDED';
}
