import type { Micros } from '../domain/instant.js';
import type { Holder } from '../domain/principal.js';
import type { Settings } from '../domain/settings.js';
import type { Sql } from './database.js';
import { BEST_FIRST, bestOf, matches, type QueueFilter } from './queue-list.js';
import type { Store } from './store.js';
import { type Row, SELECT_STATE, SELECT_TASK } from './task-row.js';
import { type TaskWithState, withState } from './tasks.js';

/** Where a listing of ready tasks goes on: best first by priority, plan order, age. */
export interface QueueCursor {
  readonly priority: number;
  readonly planOrder: number;
  readonly seq: number;
}

/**
 * Tasks whose lease has lapsed, whether or not anybody recorded that: few, since sweeps do. How few, the planner
 * cannot know, and it would read whole tables for them. So the leases come by their index, and for each the rest
 * by its key: OFFSET 0 keeps these steps apart.
 */
const LAPSED = (sql: Sql, project: string) => sql`
  CROSS JOIN LATERAL (
    SELECT * FROM lease WHERE project = ${project} AND "end" IS NULL AND sweep_at <= clock.now
    ORDER BY sweep_at OFFSET 0) l
  CROSS JOIN LATERAL (
    SELECT * FROM task_state
    WHERE project = l.project AND task_id = l.task_id AND lease_id = l.id AND expires_at <= clock.now OFFSET 0) s
  CROSS JOIN LATERAL (SELECT * FROM queue WHERE project = l.project AND task_id = l.task_id OFFSET 0) q`;

/** Whether one more expiry of `s` in the project `p` quarantines the task, as domain/lease-end.ts decides it. */
const oneTooMany = (sql: Sql, { maxExpiries }: Settings) => sql`
  (coalesce(p.max_expiries, ${maxExpiries}) > 0 AND s.expiries_in_a_row + 1 >= coalesce(p.max_expiries, ${maxExpiries}))`;

/** What AcquireNextTask may try, and what it has to settle before. */
export interface Candidates {
  /** Best first. An unlocked read: nobody is passed over because somebody merely looks at it. */
  readonly ready: readonly string[];
  readonly lapsed: readonly string[];
}

export async function findCandidates(
  { database: { sql } }: Store,
  project: string,
  filter: QueueFilter,
  limit: number,
): Promise<Candidates> {
  const rows = await sql<{ task_id: string; lapsed: boolean }[]>`
    (SELECT task_id, false AS lapsed FROM ${bestOf(sql, { project, filter, standing: 'READY' }, limit)} ready)
    UNION ALL
    (SELECT q.task_id, true FROM (SELECT holdfast_now() AS now) clock ${LAPSED(sql, project)}
      WHERE true ${matches(sql, filter)} LIMIT ${limit})`;
  return {
    ready: rows
      .filter(({ lapsed }) => !lapsed)
      .slice(0, limit)
      .map((row) => row.task_id),
    lapsed: rows.filter(({ lapsed }) => lapsed).map((row) => row.task_id),
  };
}

/**
 * The tasks that can be leased now, best first. A lapsed lease counts from its deadline on: those are a second
 * small scan, unless settling one would quarantine its task.
 */
export async function listReady(
  { database: { sql }, defaults }: Store,
  project: string,
  filter: QueueFilter,
  after: QueueCursor | undefined,
  limit: number,
): Promise<TaskWithState[]> {
  // Two ranges of the index, since one condition over both would read all tasks of the cursor's priority again.
  const beyond = after
    ? [
        sql`AND q.priority = ${after.priority} AND (q.plan_order, q.seq) > (${after.planOrder}, ${after.seq})`,
        sql`AND q.priority < ${after.priority}`,
      ]
    : [sql``];
  const ranges = beyond.map(
    (range) => sql`
      ${bestOf(sql, { project, filter, standing: 'READY', range }, limit)}
      UNION ALL
      (SELECT q.task_id FROM clock CROSS JOIN project p ${LAPSED(sql, project)}
        WHERE p.id = ${project} AND s.unmet = 0 AND NOT ${oneTooMany(sql, defaults)}
          ${matches(sql, filter)} ${range}
        ${sql.unsafe(BEST_FIRST)} LIMIT ${limit})`,
  );
  const rows = await sql<Row[]>`
    WITH clock AS MATERIALIZED (SELECT holdfast_now() AS now), picked AS (
      ${ranges.reduce((all, range) => sql`${all} UNION ALL ${range}`)}
    )
    SELECT clock.now, ${sql.unsafe(SELECT_TASK)}, ${sql.unsafe(SELECT_STATE)}
    FROM clock, picked
    JOIN task t ON t.project = ${project} AND t.id = picked.task_id
    JOIN task_state s ON s.project = t.project AND s.task_id = t.id
    JOIN queue q ON q.project = t.project AND q.task_id = t.id
    ${sql.unsafe(BEST_FIRST)} LIMIT ${limit}`;
  return rows.map(withState);
}

/** An unfinished task that cannot be leased now. */
export interface NotReady {
  readonly taskId: string;
  readonly title: string;
  readonly why: 'BLOCKED' | 'LEASED' | 'QUARANTINED';
  readonly holder: Holder | undefined;
  readonly expiresAt: Micros | undefined;
  readonly now: Micros;
}

const WHY = { 2: 'BLOCKED', 3: 'LEASED', 4: 'QUARANTINED' } as const;

/**
 * Unfinished tasks that cannot be leased now, the best of each kind, and why. Together with {@link listReady} they are
 * all: a lapsed lease whose task is not ready is told as what the task will be once that is recorded.
 */
export async function listNotReady(
  { database: { sql }, defaults }: Store,
  project: string,
  filter: QueueFilter,
  limit: number,
): Promise<NotReady[]> {
  const picked = (['BLOCKED', 'LEASED', 'QUARANTINED'] as const).map(
    (standing) => sql`SELECT task_id FROM ${bestOf(sql, { project, filter, standing }, limit)} one`,
  );
  const rows = await sql<Row[]>`
    SELECT clock.now, q.task_id, t.title, s.principal, s.execution_id, s.expires_at,
      CASE WHEN q.standing <> 3 OR s.expires_at > clock.now THEN q.standing
        WHEN ${oneTooMany(sql, defaults)} THEN 4 ELSE 2 END AS standing
    FROM (SELECT holdfast_now() AS now) clock, project p,
      (${picked.reduce((all, one) => sql`${all} UNION ALL ${one}`)}) picked
    JOIN queue q ON q.project = ${project} AND q.task_id = picked.task_id
    JOIN task t ON t.project = q.project AND t.id = q.task_id
    JOIN task_state s ON s.project = q.project AND s.task_id = q.task_id
    WHERE p.id = ${project}
      AND (q.standing <> 3 OR s.expires_at > clock.now OR s.unmet > 0 OR ${oneTooMany(sql, defaults)})
    ORDER BY q.standing, q.priority DESC, q.plan_order, q.seq LIMIT ${limit}`;
  return rows.map((row) => ({
    taskId: row.task_id as string,
    title: row.title as string,
    why: WHY[row.standing as keyof typeof WHY],
    holder:
      row.standing === 3
        ? { principal: row.principal as string, executionId: row.execution_id as string }
        : undefined,
    expiresAt: row.standing === 3 ? Number(row.expires_at) : undefined,
    now: Number(row.now),
  }));
}

/** What came of the tasks that a task waited for, newest first. */
export interface DependencyResult {
  readonly taskId: string;
  readonly title: string;
  readonly result: string;
}

export async function dependencyResults(
  { database: { sql } }: Store,
  project: string,
  taskId: string,
  limit: number,
): Promise<DependencyResult[]> {
  return sql<DependencyResult[]>`
    SELECT t.id AS "taskId", t.title, t.result FROM dependency d
    JOIN task t ON t.project = d.project AND t.id = d.blocker_id
    JOIN task_state s ON s.project = d.project AND s.task_id = d.blocker_id
    WHERE d.project = ${project} AND d.task_id = ${taskId} AND s.status = 3 AND t.result <> ''
    ORDER BY t.closed_at DESC, t.seq DESC LIMIT ${limit}`;
}
