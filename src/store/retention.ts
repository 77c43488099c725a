import type { Micros } from '../domain/instant.js';
import type { Store } from './store.js';

/** The largest there can be. */
const LAST_POSITION = 2n ** 63n - 1n;

/**
 * Prunes one batch of one project's oldest events, and remembers the highest position that is gone as the project's
 * floor, in one statement.
 *
 * What goes is always the beginning: it stops at the first event that is young enough, also when older ones follow
 * (a slow transaction's event is numbered behind younger ones). So what is kept has no holes. Events without a position
 * are behind all that have one, and not looked at.
 *
 * Several replicas may do this at once: the project's row is locked first, so that they take turns, and who comes
 * second goes on from the floor that the first one left. That row is the sequencer's, too: a batch must be small.
 *
 * @param keptFor how old an event must be to go, in microseconds
 * @param batch how many events go at most
 * @returns how many went, and whether to call again: somewhere there may be more
 */
export async function pruneHistory(
  { database: { sql } }: Store,
  keptFor: Micros,
  batch: number,
): Promise<{ pruned: number; more: boolean }> {
  const [row] = await sql<{ found: number; pruned: number }[]>`
    WITH clock AS MATERIALIZED (
      SELECT holdfast_now() - ${keptFor}::bigint AS cutoff
    ), head AS MATERIALIZED (
      SELECT h.project, h.floor FROM clock, history_head h
      WHERE (SELECT e.at FROM event e WHERE e.project = h.project AND e.position > h.floor ORDER BY e.position LIMIT 1)
        < clock.cutoff
      ORDER BY h.project LIMIT 1 FOR UPDATE OF h
    ), oldest AS MATERIALIZED (
      SELECT e.* FROM head CROSS JOIN LATERAL (
        SELECT project, position, at FROM event e
        WHERE e.project = head.project AND e.position > head.floor ORDER BY e.position LIMIT ${batch}) e
    ), last AS MATERIALIZED (
      SELECT max(position) AS position FROM oldest
      WHERE position < coalesce((SELECT min(position) FROM oldest, clock WHERE at >= clock.cutoff), ${LAST_POSITION})
    ), gone AS (
      -- No join: the planner knows nothing of their sizes, and would read the whole table while the row is locked.
      DELETE FROM event WHERE project = (SELECT project FROM head)
        AND position > (SELECT floor FROM head) AND position <= (SELECT position FROM last)
      RETURNING 1
    ), moved AS (
      UPDATE history_head SET floor = last.position FROM last
      WHERE project = (SELECT project FROM head) AND last.position IS NOT NULL
    )
    SELECT (SELECT count(*)::int FROM head) AS found, (SELECT count(*)::int FROM gone) AS pruned`;
  return { pruned: row?.pruned ?? 0, more: (row?.found ?? 0) > 0 };
}
