import { grouped } from '../domain/grouped.js';
import { textArray } from './arrays.js';
import type { Store } from './store.js';

/** The ids of the project's tasks with these external keys, by key. */
export async function taskIdsByKey(
  { database: { sql } }: Store,
  project: string,
  keys: readonly string[],
): Promise<Map<string, string>> {
  if (keys.length === 0) return new Map();
  const rows = await sql<{ id: string; external_key: string }[]>`
    SELECT id, external_key FROM task WHERE project = ${project} AND external_key = ANY(${textArray(sql, keys)})`;
  return new Map(rows.map(({ id, external_key }) => [external_key, id]));
}

/** The ids of the project's plans with these external keys, by key. */
export async function planIdsByKey(
  { database: { sql } }: Store,
  project: string,
  keys: readonly string[],
): Promise<Map<string, string>> {
  if (keys.length === 0) return new Map();
  const rows = await sql<{ id: string; external_key: string }[]>`
    SELECT id, external_key FROM plan WHERE project = ${project} AND external_key = ANY(${textArray(sql, keys)})`;
  return new Map(rows.map(({ id, external_key }) => [external_key, id]));
}

/** Edges that are there, and the version of the graph that they were read in. */
export interface ReachableEdges {
  /** For each task, those that it waits for. */
  readonly edges: ReadonlyMap<string, readonly string[]>;
  readonly graphVersion: bigint;
}

/** All edges on the ways that lead on from some tasks. */
export async function reachableEdges(
  { database: { sql } }: Store,
  project: string,
  from: readonly string[],
): Promise<ReachableEdges> {
  const rows = await sql<{ task_id: string | null; blocker_id: string | null; version: bigint }[]>`
    WITH RECURSIVE reached(id) AS (
      SELECT id FROM unnest(${textArray(sql, from)}) AS start(id)
      UNION
      SELECT d.blocker_id FROM reached r JOIN dependency d ON d.project = ${project} AND d.task_id = r.id
    ), edge AS (
      SELECT d.task_id, d.blocker_id FROM reached r JOIN dependency d ON d.project = ${project} AND d.task_id = r.id
    )
    SELECT edge.task_id, edge.blocker_id, p.graph_version AS version
    FROM project p LEFT JOIN edge ON true WHERE p.id = ${project}`;
  const found = rows.flatMap(({ task_id: from, blocker_id: to }) => (from && to ? [{ from, to }] : []));
  const edges = new Map(
    [...grouped(found, ({ from }) => from)].map(([id, ways]) => [id, ways.map(({ to }) => to)]),
  );
  return { edges, graphVersion: rows[0]?.version ?? 0n };
}
