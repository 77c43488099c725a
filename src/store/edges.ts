import type { EdgeFacts } from '../domain/dependencies.js';
import type { TaskState } from '../domain/task-state.js';
import { textArray } from './arrays.js';
import type { Store } from './store.js';
import { type Row, SELECT_STATE, stateOf } from './task-row.js';

/** What a decision on the edge from a task to its blocker needs to know of its other end. */
export async function readEdgeFacts(
  store: Store,
  project: string,
  waiting: TaskState,
  blockerId: string,
): Promise<EdgeFacts> {
  const [row] = await store.database.sql<Row[]>`
    SELECT ${store.database.sql.unsafe(SELECT_STATE)}, d.accept_dropped, t.parent_id = ${waiting.taskId} AS is_child
    FROM task_state s JOIN task t ON t.project = s.project AND t.id = s.task_id
    LEFT JOIN dependency d ON d.project = s.project AND d.task_id = ${waiting.taskId} AND d.blocker_id = s.task_id
    WHERE s.project = ${project} AND s.task_id = ${blockerId}`;
  if (!row) {
    return {
      blocker: undefined,
      existing: undefined,
      isChild: false,
      path: undefined,
      graphVersion: undefined,
    };
  }
  const blocker = stateOf(row);
  const existing =
    row.accept_dropped === null ? undefined : { blockerId, acceptDropped: row.accept_dropped as boolean };
  // A way back needs an edge out of the blocker and one into the waiting task: their versions guard both counts.
  const mayCycle = !existing && blocker.blockers > 0 && waiting.dependents > 0;
  const search = mayCycle ? await findPath(store, project, [blockerId], waiting.taskId) : undefined;
  return {
    blocker,
    existing,
    isChild: row.is_child === true,
    path: blockerId === waiting.taskId ? [blockerId] : search?.path,
    graphVersion: search?.graphVersion,
  };
}

/**
 * The versions of the edges of some tasks, by their ids. Read before a search for a way from them, they guard what the
 * graph's version does not: an edge out of a task that nobody waits for yet moves the versions of its ends alone.
 */
export async function depsVersionsOf(
  { database: { sql } }: Store,
  project: string,
  ids: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  const rows = await sql<{ task_id: string; deps_version: bigint }[]>`
    SELECT task_id, deps_version FROM task_state
    WHERE project = ${project} AND task_id = ANY(${textArray(sql, ids)})`;
  return Object.fromEntries(rows.map(({ task_id, deps_version }) => [task_id, String(deps_version)]));
}

/**
 * The way along which one of the tasks waits for another, at any depth. With it comes the version of the graph
 * that it was found in: as long as that stands, and the edges of the tasks at both ends do, no edge was added that could
 * open another way.
 */
export async function findPath(
  { database: { sql } }: Store,
  project: string,
  from: readonly string[],
  to: string,
): Promise<{ path: readonly string[] | undefined; graphVersion: bigint }> {
  const rows = await sql<{ id: string | null; via: string | null; version: bigint }[]>`
    WITH RECURSIVE reached(id, via) AS (
      SELECT id, NULL::text FROM unnest(${textArray(sql, from)}) AS start(id)
      UNION
      -- Lateral, so that every step is a look-up by key: before the table is analyzed, steps would scan it whole.
      SELECT d.blocker_id, r.id FROM reached r
      CROSS JOIN LATERAL (
        SELECT blocker_id FROM dependency WHERE project = ${project} AND task_id = r.id OFFSET 0) d
    )
    SELECT r.id, r.via, p.graph_version AS version
    FROM project p LEFT JOIN reached r ON EXISTS (SELECT 1 FROM reached WHERE id = ${to})
    WHERE p.id = ${project}`;
  const graphVersion = rows[0]?.version ?? 0n;
  const via = new Map<string, string | null>();
  for (const row of rows) if (row.id !== null && !via.has(row.id)) via.set(row.id, row.via);
  if (!via.has(to)) return { path: undefined, graphVersion };
  const path: string[] = [];
  for (let id: string | null = to; id !== null; id = via.get(id) ?? null) path.unshift(id);
  return { path, graphVersion };
}
