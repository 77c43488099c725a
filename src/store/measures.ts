import type { Store } from './store.js';

/** Counting further would cost more than it tells. */
const COUNTED = 100_000;

/** How many leases are live, in all projects. */
export async function countLiveLeases({ database: { sql } }: Store): Promise<number> {
  const [row] = await sql<{ leases: number }[]>`
    SELECT count(*)::int AS leases FROM (SELECT 1 FROM lease WHERE "end" IS NULL LIMIT ${COUNTED}) counted`;
  return row?.leases ?? 0;
}

/** How many unfinished tasks there are in all projects, by how they stand in the queue. */
export async function countTasks({ database: { sql } }: Store): Promise<Record<string, number>> {
  const rows = await sql<{ standing: string; tasks: number }[]>`
    SELECT s.name AS standing, coalesce(sum(counted.tasks), 0)::int AS tasks
    FROM (VALUES (1, 'ready'), (2, 'blocked'), (3, 'leased'), (4, 'quarantined')) s(standing, name)
    LEFT JOIN project p ON true
    LEFT JOIN LATERAL (
      SELECT count(*) AS tasks FROM (
        SELECT 1 FROM queue q WHERE q.project = p.id AND q.standing = s.standing LIMIT ${COUNTED}) few
    ) counted ON true
    GROUP BY s.name`;
  return Object.fromEntries(rows.map(({ standing, tasks }) => [standing, tasks]));
}

/** How many connections all processes have to this database, by what they do. */
export async function countConnections({ database: { sql } }: Store): Promise<Record<string, number>> {
  const [row] = await sql<Record<string, number>[]>`
    SELECT count(*) FILTER (WHERE state = 'active')::int AS active, count(*) FILTER (WHERE state = 'idle')::int AS idle,
      count(*) FILTER (WHERE state NOT IN ('active', 'idle'))::int AS other
    FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'holdfast'`;
  return { ...row };
}
