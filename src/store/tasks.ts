import type { Actor, EventDraft } from '../domain/event.js';
import type { Micros } from '../domain/instant.js';
import type { Task } from '../domain/task.js';
import type { TaskState, TaskStatus } from '../domain/task-state.js';
import { eventColumns } from './apply.js';
import { intArray, textArray } from './arrays.js';
import { statusCodes } from './codes.js';
import { type RequestKey, requestJson } from './requests.js';
import type { Store } from './store.js';
import { micros, type Row, SELECT_STATE, SELECT_TASK, stateOf, taskOf } from './task-row.js';

/** A task with its state, and the clock of the read. */
export interface TaskWithState {
  readonly now: Micros;
  readonly task: Task;
  readonly state: TaskState;
}

export interface NewTask {
  readonly id: string;
  readonly title: string;
  readonly body: string;
  readonly priority: number;
  readonly labels: readonly string[];
  readonly planId: string | undefined;
  readonly externalKey: string | undefined;
  readonly assignee: string;
}

/**
 * Creates a task in one statement. With an external key that was used before, its fencing counter goes on
 * where the deleted task's stopped: the counter's row is taken first, since that waits for a deletion under
 * way and then sees it, whatever the snapshot says.
 *
 * @returns undefined when the plan does not exist
 * @throws a DUPLICATE fault for `task_external_key` or the request
 */
export async function createTask(
  { database: { sql }, commits }: Store,
  project: string,
  task: NewTask,
  actor: Actor,
  request: RequestKey | undefined,
): Promise<TaskWithState | undefined> {
  const events: EventDraft[] = [
    {
      kind: 'TASK_CREATED',
      actor,
      payload: {
        title: task.title,
        status: 'OPEN',
        priority: task.priority,
        labels: task.labels,
        ...(task.planId !== undefined && { planId: task.planId }),
        ...(task.externalKey !== undefined && { externalKey: task.externalKey }),
        blockedBy: [],
      },
    },
    { kind: 'TASK_READY', payload: { cause: 'CREATED' } },
  ];
  const [row] = await sql<Row[]>`
    WITH fenced AS (
      INSERT INTO fence (project, external_key, fencing_token)
      SELECT ${project}, key, 0 FROM (SELECT ${task.externalKey ?? null}::text AS key) k WHERE key IS NOT NULL
      ON CONFLICT (project, external_key) DO UPDATE SET fencing_token = fence.fencing_token
      RETURNING fencing_token
    ), step AS (
      UPDATE plan SET last_order = last_order + 1
      WHERE project = ${project} AND id = ${task.planId ?? null}
      RETURNING last_order
    ), go AS MATERIALIZED (
      SELECT holdfast_now() AS t, coalesce((SELECT last_order FROM step), 0) AS plan_order,
        coalesce((SELECT fencing_token FROM fenced), 0) AS fencing_token
      FROM project p
      WHERE p.id = ${project} AND (${task.planId ?? null}::text IS NULL OR EXISTS (SELECT 1 FROM step))
    ), t AS (
      INSERT INTO task (project, id, title, body, labels, plan_id, plan_order, external_key, assignee,
        created_at, created_by, updated_at)
      SELECT ${project}, ${task.id}, ${task.title}, ${task.body}, ${textArray(sql, task.labels)},
        ${task.planId ?? null}, go.plan_order, ${task.externalKey ?? null}, ${task.assignee || null},
        go.t, ${actor.principal}, go.t
      FROM go RETURNING *
    ), s AS (
      INSERT INTO task_state (project, task_id, status, priority, fencing_token)
      SELECT ${project}, t.id, 1, ${task.priority}, go.fencing_token FROM go, t RETURNING *
    ), told AS (
      INSERT INTO event (project, kind, at, task_id, actor, actor_kind, execution_id, fencing_token, payload)
      SELECT ${project}, e.kind, go.t, s.task_id, e.actor, e.actor_kind, e.execution_id, s.fencing_token, e.payload
      FROM go, s, jsonb_to_recordset(${JSON.stringify(events.map(eventColumns))}::text::jsonb) AS e(
        kind smallint, actor text, actor_kind smallint, execution_id text, payload jsonb)
      ORDER BY e.kind
    ), remembered AS (
      INSERT INTO request (project, principal, rpc, request_id, body_hash, ref, created_at)
      SELECT ${project}, r.principal, r.rpc, r.request_id, decode(r.body_hash, 'hex'), r.ref, go.t
      FROM go, jsonb_to_record(${requestJson(request && { ...request, ref: task.id })}::text::jsonb)
        AS r(principal text, rpc text, request_id text, body_hash text, ref text)
      WHERE r.request_id IS NOT NULL
    )
    SELECT go.t AS now, ${sql.unsafe(SELECT_TASK)}, ${sql.unsafe(SELECT_STATE)} FROM go, t, s`;
  if (!row) return undefined;
  commits.eventsWritten();
  return withState(row);
}

function withState(row: Row): TaskWithState {
  return { now: micros(row.now), task: taskOf(row), state: stateOf(row) };
}

export async function findTask(
  { database: { sql } }: Store,
  project: string,
  by: { readonly taskId: string } | { readonly externalKey: string },
): Promise<TaskWithState | undefined> {
  const which = 'taskId' in by ? sql`t.id = ${by.taskId}` : sql`t.external_key = ${by.externalKey}`;
  const [row] = await sql<Row[]>`
    SELECT holdfast_now() AS now, ${sql.unsafe(SELECT_TASK)}, ${sql.unsafe(SELECT_STATE)}
    FROM task t JOIN task_state s ON s.project = t.project AND s.task_id = t.id
    WHERE t.project = ${project} AND ${which}`;
  return row && withState(row);
}

export interface TaskFilter {
  readonly statuses: readonly TaskStatus[];
  readonly planId: string | undefined;
  readonly labels: readonly string[];
  readonly assignee: string | undefined;
  readonly holder: string | undefined;
}

/** Tasks in the order of their creation, after a sequence number. */
export async function listTasks(
  { database: { sql } }: Store,
  project: string,
  { statuses, planId, labels, assignee, holder }: TaskFilter,
  after: number,
  limit: number,
): Promise<TaskWithState[]> {
  // A lapsed lease no longer keeps a task in progress: filters see what answers tell.
  const status = sql`CASE WHEN s.status = 2 AND s.expires_at <= clock.now THEN 1 ELSE s.status END`;
  const rows = await sql<Row[]>`
    SELECT clock.now, ${sql.unsafe(SELECT_TASK)}, ${sql.unsafe(SELECT_STATE)}
    FROM (SELECT holdfast_now() AS now) clock,
      task t JOIN task_state s ON s.project = t.project AND s.task_id = t.id
    WHERE t.project = ${project} AND t.seq > ${after}
      ${statuses.length === 0 ? sql`` : sql`AND ${status} = ANY(${intArray(sql, statuses.map(statusCodes.code))})`}
      ${planId === undefined ? sql`` : sql`AND t.plan_id = ${planId}`}
      ${labels.length === 0 ? sql`` : sql`AND t.labels @> ${textArray(sql, labels)}`}
      ${assignee === undefined ? sql`` : sql`AND t.assignee = ${assignee}`}
      ${holder === undefined ? sql`` : sql`AND s.principal = ${holder} AND s.expires_at > clock.now`}
    ORDER BY t.seq LIMIT ${limit}`;
  return rows.map(withState);
}
