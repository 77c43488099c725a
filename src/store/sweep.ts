import type { Micros } from '../domain/instant.js';
import { settle } from './mutate.js';
import { SELECT_SETTINGS, settingsOf } from './read-task.js';
import type { Store } from './store.js';
import { maybeMicros, micros, type Row, SELECT_STATE, stateOf } from './task-row.js';

/** What a sweep found. */
export interface Swept {
  /** Expiries that this sweep recorded; others may have recorded the rest. */
  readonly expired: number;
  /** How many rows were due: a full batch means that there may be more. */
  readonly due: number;
  /** From the beginning of the sweep to the next deadline, not counting those that were due; undefined: none. */
  readonly nextIn: Micros | undefined;
}

/**
 * Records the expiry of leases whose deadline has passed, oldest first. Rows that somebody has locked are
 * left for the next sweep; rows that turn out renewed are looked at again at their new deadline.
 */
export async function sweep(store: Store, batch: number): Promise<Swept> {
  const { sql } = store.database;
  await sql`
    WITH clock AS MATERIALIZED (SELECT holdfast_now() AS t), renewed AS MATERIALIZED (
      SELECT l.project, l.id, s.expires_at
      FROM clock, lease l JOIN task_state s ON s.project = l.project AND s.task_id = l.task_id AND s.lease_id = l.id
      WHERE l."end" IS NULL AND l.sweep_at <= clock.t AND s.expires_at > clock.t
      ORDER BY l.project, l.id LIMIT ${batch} FOR UPDATE OF l SKIP LOCKED
    )
    UPDATE lease l SET sweep_at = renewed.expires_at FROM renewed
    WHERE l.project = renewed.project AND l.id = renewed.id AND l."end" IS NULL`;
  const rows = await sql<Row[]>`
    WITH clock AS MATERIALIZED (SELECT holdfast_now() AS t)
    SELECT clock.t AS now, (SELECT min(sweep_at) FROM lease WHERE "end" IS NULL AND sweep_at > clock.t) AS next, due.*
    FROM clock LEFT JOIN LATERAL (
      SELECT s.project, ${sql.unsafe(SELECT_SETTINGS)}, ${sql.unsafe(SELECT_STATE)}
      FROM lease l
      JOIN task_state s ON s.project = l.project AND s.task_id = l.task_id AND s.lease_id = l.id
      JOIN project p ON p.id = l.project
      WHERE l."end" IS NULL AND l.sweep_at <= clock.t AND s.expires_at <= clock.t
      ORDER BY l.sweep_at LIMIT ${batch}) due ON true`;
  const due = rows.filter((row) => row.project !== null);
  const settled = await Promise.all(
    due.map((row) => {
      const read = { now: micros(row.now), state: stateOf(row), settings: settingsOf(row, store.defaults) };
      return settle(store, row.project as string, read, 'skip');
    }),
  );
  const next = maybeMicros(rows[0]?.next ?? null);
  return {
    expired: settled.filter((recorded) => recorded).length,
    due: due.length,
    nextIn: next === undefined ? undefined : next - micros(rows[0]?.now),
  };
}
