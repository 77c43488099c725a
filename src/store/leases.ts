import type { Micros } from '../domain/instant.js';
import type { Lease } from '../domain/lease.js';
import type { Holder } from '../domain/principal.js';
import { textArray } from './arrays.js';
import { leaseEndCodes } from './codes.js';
import { SELECT_SETTINGS, settingsOf, type TaskRead } from './read-task.js';
import type { Store } from './store.js';
import { maybeMicros, maybeText, micros, type Row, SELECT_STATE, stateOf } from './task-row.js';

/** Leases and the clock of the read. */
export interface LeasesRead {
  readonly now: Micros;
  readonly leases: readonly Lease[];
}

/** How far back a lost lease is told to the execution that lost it, in microseconds: 24 h. */
const LOST_FOR = 24 * 3600 * 1_000_000;
const MAX_LOST = 1_000;

/** The select list of `lease l` with its `task_state s`, as {@link leaseOf} reads it. */
export const SELECT_LEASE = `l.id, l.task_id, l.fencing_token, l.principal, l.execution_id, l.attempt, l.granted_at,
  l."end", l.ended_at, l.ended_by, l.end_reason, coalesce(l.expires_at, s.expires_at) AS expires_at,
  coalesce(CASE WHEN l."end" IS NULL THEN s.ttl END, l.ttl) AS ttl`;

/** A live lease's deadline is in the task's row, which carries it for as long as it is the current one. */
const CURRENT_ROW = `LEFT JOIN task_state s ON s.project = l.project AND s.task_id = l.task_id AND s.lease_id = l.id`;

export function leaseOf(row: Row): Lease {
  return {
    id: row.id as string,
    taskId: row.task_id as string,
    fencingToken: row.fencing_token as bigint,
    holder: { principal: row.principal as string, executionId: row.execution_id as string },
    attempt: row.attempt as number,
    grantedAt: micros(row.granted_at),
    expiresAt: micros(row.expires_at),
    ttl: micros(row.ttl),
    end: row.end === null ? undefined : leaseEndCodes.name(row.end as number),
    endedAt: maybeMicros(row.ended_at),
    endedBy: maybeText(row.ended_by),
    endReason: maybeText(row.end_reason),
  };
}

function readOf(rows: readonly Row[]): LeasesRead {
  return { now: micros(rows[0]?.now ?? 0), leases: rows.map(leaseOf) };
}

/** One lease, by its id or as the newest of a task. */
export async function findLease(
  { database: { sql } }: Store,
  project: string,
  by: { readonly leaseId: string } | { readonly taskId: string },
): Promise<{ now: Micros; lease: Lease } | undefined> {
  const which = 'leaseId' in by ? sql`l.id = ${by.leaseId}` : sql`l.task_id = ${by.taskId}`;
  const rows = await sql<Row[]>`
    SELECT holdfast_now() AS now, ${sql.unsafe(SELECT_LEASE)}
    FROM lease l ${sql.unsafe(CURRENT_ROW)}
    WHERE l.project = ${project} AND ${which} ORDER BY l.fencing_token DESC LIMIT 1`;
  const { now, leases } = readOf(rows);
  return leases[0] && { now, lease: leases[0] };
}

/** Leases by their ids, in the order of their grants. */
export async function findLeases(
  { database: { sql } }: Store,
  project: string,
  ids: readonly string[],
): Promise<LeasesRead> {
  if (ids.length === 0) return { now: 0, leases: [] };
  return readOf(
    await sql<Row[]>`
      SELECT holdfast_now() AS now, ${sql.unsafe(SELECT_LEASE)}
      FROM lease l ${sql.unsafe(CURRENT_ROW)}
      WHERE l.project = ${project} AND l.id = ANY(${textArray(sql, ids)}) ORDER BY l.granted_at, l.task_id`,
  );
}

export interface LiveLeaseFilter {
  readonly principal: string | undefined;
  readonly executionId: string | undefined;
}

/** The live leases of a project, by task id, after a task id. */
export async function listLiveLeases(
  { database: { sql } }: Store,
  project: string,
  { principal, executionId }: LiveLeaseFilter,
  after: string,
  limit: number,
): Promise<LeasesRead> {
  return readOf(
    await sql<Row[]>`
      SELECT clock.now, ${sql.unsafe(SELECT_LEASE)}
      FROM (SELECT holdfast_now() AS now) clock, lease l
      JOIN task_state s ON s.project = l.project AND s.task_id = l.task_id AND s.lease_id = l.id
      WHERE l.project = ${project} AND l."end" IS NULL AND s.expires_at > clock.now AND l.task_id > ${after}
        ${principal === undefined ? sql`` : sql`AND l.principal = ${principal}`}
        ${executionId === undefined ? sql`` : sql`AND l.execution_id = ${executionId}`}
      ORDER BY l.task_id LIMIT ${limit}`,
  );
}

/** The tasks that an execution holds, lapsed leases included. */
export async function tasksHeldBy(
  { database: { sql }, defaults }: Store,
  project: string,
  { principal, executionId }: Holder,
): Promise<Pick<TaskRead, 'now' | 'state' | 'settings'>[]> {
  const rows = await sql<Row[]>`
    SELECT holdfast_now() AS now, ${sql.unsafe(SELECT_SETTINGS)}, ${sql.unsafe(SELECT_STATE)}
    FROM project p
    JOIN lease l ON l.project = p.id
    JOIN task_state s ON s.project = l.project AND s.task_id = l.task_id AND s.lease_id = l.id
    WHERE p.id = ${project} AND l.principal = ${principal} AND l.execution_id = ${executionId} AND l."end" IS NULL
    ORDER BY s.task_id`;
  return rows.map((row) => ({
    now: micros(row.now),
    state: stateOf(row),
    settings: settingsOf(row, defaults),
  }));
}

/**
 * The leases that an execution lost within the last day, by expiry or revocation, unless it was granted the
 * task again; newest first, at most 1,000.
 */
export async function lostLeases(
  { database: { sql } }: Store,
  project: string,
  { principal, executionId }: Holder,
): Promise<LeasesRead> {
  return readOf(
    await sql<Row[]>`
      SELECT holdfast_now() AS now, ${sql.unsafe(SELECT_LEASE)}
      FROM lease l ${sql.unsafe(CURRENT_ROW)}
      WHERE l.project = ${project} AND l.principal = ${principal} AND l.execution_id = ${executionId}
        AND l."end" IN (4, 5) AND l.ended_at > holdfast_now() - ${LOST_FOR}::bigint
        AND NOT EXISTS (
          SELECT 1 FROM lease again
          WHERE again.project = l.project AND again.task_id = l.task_id AND again.fencing_token > l.fencing_token
            AND again.principal = l.principal AND again.execution_id = l.execution_id)
      ORDER BY l.ended_at DESC LIMIT ${MAX_LOST}`,
  );
}
