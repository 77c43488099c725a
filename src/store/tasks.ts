import type { Micros } from '../domain/instant.js';
import type { Task } from '../domain/task.js';
import type { TaskState, TaskStatus } from '../domain/task-state.js';
import { intArray, textArray } from './arrays.js';
import { statusCodes } from './codes.js';
import type { Store } from './store.js';
import { micros, type Row, SELECT_STATE, SELECT_TASK, stateOf, taskOf } from './task-row.js';

/** A task with its state, and the clock of the read. */
export interface TaskWithState {
  readonly now: Micros;
  readonly task: Task;
  readonly state: TaskState;
}

export function withState(row: Row): TaskWithState {
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
  readonly parentId: string | undefined;
}

/** Tasks in the order of their creation, after a sequence number. */
export async function listTasks(
  { database: { sql } }: Store,
  project: string,
  { statuses, planId, labels, assignee, holder, parentId }: TaskFilter,
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
      ${parentId === undefined ? sql`` : sql`AND t.parent_id = ${parentId}`}
      ${assignee === undefined ? sql`` : sql`AND t.assignee = ${assignee}`}
      ${holder === undefined ? sql`` : sql`AND s.principal = ${holder} AND s.expires_at > clock.now`}
    ORDER BY t.seq LIMIT ${limit}`;
  return rows.map(withState);
}
