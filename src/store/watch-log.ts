import type { Micros } from '../domain/instant.js';
import type { Lease } from '../domain/lease.js';
import type { WatchFilter } from '../domain/watch-filter.js';
import { textArray } from './arrays.js';
import { eventCodes } from './codes.js';
import type { Sql } from './database.js';
import { eventOf, type HistoryEvent } from './history.js';
import { leaseOf, SELECT_LEASE } from './leases.js';
import type { Store } from './store.js';
import { maybeText, micros, type Row } from './task-row.js';

/** How far a project's history reaches, in which database. */
export interface LogBounds {
  readonly epoch: string;
  /** The last position given out; 0: none. */
  readonly head: bigint;
  /** The highest position that is no longer kept; 0: all are. */
  readonly floor: bigint;
}

export interface LogEntry {
  readonly event: HistoryEvent;
  /** The plan that the event's task is, or was, a step of. */
  readonly planId: string | undefined;
  /** Roughly how much memory it takes, in bytes. */
  readonly bytes: number;
}

/** A piece of a project's history. */
export interface LogPage extends LogBounds {
  readonly project: string;
  /** By the database's clock, when this was read. */
  readonly now: Micros;
  readonly entries: readonly LogEntry[];
  /** The page was full: there may be more behind it. */
  readonly more: boolean;
}

/** What an event takes beside its payload: the row, its objects, its encoded form. */
const ENTRY_BYTES = 512;

const boundsOf = (row: Row | undefined): LogBounds => ({
  epoch: row?.epoch as string,
  head: (row?.head as bigint | null) ?? 0n,
  floor: (row?.floor as bigint | null) ?? 0n,
});

/** The plan of `e`'s task: of the row, or of the event that told its deletion. A task never changes its plan. */
const PLAN_OF_TASK = `CASE WHEN t.id IS NOT NULL THEN t.plan_id WHEN e.task_id IS NOT NULL THEN (
  SELECT d.payload->>'planId' FROM event d WHERE d.project = e.project AND d.task_id = e.task_id AND d.kind = ${eventCodes.code('TASK_DELETED')} LIMIT 1
) END`;

/**
 * What comes after a position in each of some projects, in the order of positions: at most `limit` events each, and
 * no more than about `bytes` beyond the first. One statement, so bounds and events are of one moment.
 */
export async function readLogs(
  { database: { sql } }: Store,
  wanted: readonly { readonly project: string; readonly after: bigint }[],
  limit: number,
  bytes: number,
): Promise<LogPage[]> {
  const json = JSON.stringify(wanted.map(({ project, after }, i) => ({ i, project, after: String(after) })));
  const rows = await sql<Row[]>`
    SELECT w.i, holdfast_now() AS now, m.epoch, h.position AS head, h.floor, e.*, w.project,
      ${sql.unsafe(PLAN_OF_TASK)} AS plan_id
    FROM meta m CROSS JOIN jsonb_to_recordset(${json}::text::jsonb) AS w(i integer, project text, after bigint)
    LEFT JOIN history_head h ON h.project = w.project
    LEFT JOIN LATERAL (
      SELECT *, sum(bytes) OVER (ORDER BY position) - bytes AS before, count(*) OVER () AS found FROM (
        SELECT *, octet_length(payload::text) + ${ENTRY_BYTES} AS bytes FROM event
        WHERE project = w.project AND position > w.after ORDER BY position LIMIT ${limit}) page
    ) e ON e.before < ${bytes}
    LEFT JOIN task t ON t.project = w.project AND t.id = e.task_id
    ORDER BY w.i, e.position`;
  const byProject = new Map<number, Row[]>();
  for (const row of rows) {
    const found = byProject.get(row.i as number);
    if (found) found.push(row);
    else byProject.set(row.i as number, [row]);
  }
  return wanted.map(({ project }, i) => pageOf(project, byProject.get(i) ?? [], limit));
}

function pageOf(project: string, rows: readonly Row[], limit: number): LogPage {
  const found = rows.filter((row) => row.position !== null && row.position !== undefined);
  const total = Number(found[0]?.found ?? 0);
  return {
    ...boundsOf(rows[0]),
    project,
    now: micros(rows[0]?.now ?? 0),
    entries: found.map((row) => ({
      event: eventOf(row),
      planId: maybeText(row.plan_id),
      bytes: Number(row.bytes),
    })),
    more: total === limit || total > found.length,
  };
}

/** How far the histories of some projects reach, in their order. */
export async function readBounds(
  { database: { sql } }: Store,
  projects: readonly string[],
): Promise<LogBounds[]> {
  const rows = await sql<Row[]>`
    SELECT m.epoch, h.position AS head, h.floor
    FROM meta m CROSS JOIN jsonb_array_elements_text(${JSON.stringify(projects)}::text::jsonb)
      WITH ORDINALITY AS w(project, i)
    LEFT JOIN history_head h ON h.project = w.project
    ORDER BY w.i`;
  return rows.map(boundsOf);
}

/** A live lease, and the plan of its task. */
export interface WatchedLease {
  readonly lease: Lease;
  readonly planId: string | undefined;
}

export interface LiveLeases {
  /** By the database's clock, when they were read. */
  readonly now: Micros;
  readonly leases: readonly WatchedLease[];
}

/**
 * The live leases that pass a filter, by task, together with how far the history reached at that moment: one
 * statement, so that every change which the leases do not show has its event behind that position.
 */
export async function readSnapshot(
  { database: { sql } }: Store,
  project: string,
  { taskIds, planId, principal, executionId }: WatchFilter,
): Promise<LogBounds & LiveLeases> {
  const rows = await sql<Row[]>`
    SELECT clock.now, m.epoch, h.position AS head, h.floor, live.*
    FROM (SELECT holdfast_now() AS now) clock CROSS JOIN meta m
    LEFT JOIN history_head h ON h.project = ${project}
    LEFT JOIN (
      SELECT l.project AS lease_project, t.plan_id, s.expires_at AS until, ${sql.unsafe(SELECT_LEASE)}
      FROM lease l JOIN ${currentRows(sql)}
      WHERE l.project = ${project} AND l."end" IS NULL
        ${taskIds === undefined ? sql`` : sql`AND l.task_id = ANY(${textArray(sql, [...taskIds])})`}
        ${planId === undefined ? sql`` : sql`AND t.plan_id = ${planId}`}
        ${principal === undefined ? sql`` : sql`AND l.principal = ${principal}`}
        ${executionId === undefined ? sql`` : sql`AND l.execution_id = ${executionId}`}
    ) live ON live.until > clock.now
    ORDER BY live.task_id`;
  return { ...boundsOf(rows[0]), ...liveOf(rows) };
}

/** The live leases of some tasks in some projects, by project. */
export async function readLiveLeases(
  { database: { sql } }: Store,
  tasks: ReadonlyMap<string, readonly string[]>,
): Promise<Map<string, LiveLeases>> {
  const json = JSON.stringify([...tasks].map(([project, ids]) => ({ project, ids })));
  const rows = await sql<Row[]>`
    SELECT clock.now, l.project AS lease_project, t.plan_id, ${sql.unsafe(SELECT_LEASE)}
    FROM (SELECT holdfast_now() AS now) clock
    CROSS JOIN jsonb_to_recordset(${json}::text::jsonb) AS w(project text, ids jsonb)
    CROSS JOIN LATERAL jsonb_array_elements_text(w.ids) AS wanted(task_id)
    JOIN task_state named ON named.project = w.project AND named.task_id = wanted.task_id
    JOIN lease l ON l.project = named.project AND l.id = named.lease_id
    JOIN ${currentRows(sql)}
    WHERE s.expires_at > clock.now`;
  return new Map(
    [...tasks.keys()].map((project) => [
      project,
      liveOf(rows.filter((row) => row.lease_project === project)),
    ]),
  );
}

const currentRows = (sql: Sql) => sql`
  task_state s ON s.project = l.project AND s.task_id = l.task_id AND s.lease_id = l.id
  JOIN task t ON t.project = l.project AND t.id = l.task_id`;

function liveOf(rows: readonly Row[]): LiveLeases {
  const leases = rows
    .filter((row) => row.lease_project !== null)
    .map((row) => ({ lease: leaseOf(row), planId: maybeText(row.plan_id) }));
  return { now: micros(rows[0]?.now ?? 0), leases };
}

/** What of a plan and some tasks a project does not have. */
export async function unknownOf(
  { database: { sql } }: Store,
  project: string,
  planId: string | undefined,
  taskIds: readonly string[],
): Promise<{ readonly plan: boolean; readonly tasks: readonly string[] }> {
  const [row] = await sql<Row[]>`
    SELECT ${planId ?? null}::text IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM plan WHERE project = ${project} AND id = ${planId ?? null}) AS plan,
      (SELECT coalesce(jsonb_agg(wanted.named), '[]')
        FROM jsonb_array_elements_text(${JSON.stringify(taskIds)}::text::jsonb) AS wanted(named)
        WHERE NOT EXISTS (SELECT 1 FROM task t WHERE t.project = ${project} AND t.id = wanted.named)) AS tasks`;
  return { plan: row?.plan as boolean, tasks: row?.tasks as string[] };
}
