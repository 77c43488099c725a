import type { Store } from './store.js';

/**
 * Has Postgres count anew the tables that have more than doubled since it last did. Its own daemon comes once a
 * minute, and a plan that was made for an empty table takes any index for as good as the key: releasing 32 leases
 * in one statement took ten times as long when it looked them up in a whole project.
 *
 * @returns the tables
 */
export async function analyzeGrown({ database: { sql } }: Store): Promise<string[]> {
  const grown = await sql<{ name: string }[]>`
    SELECT c.relname AS name FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid
    WHERE s.schemaname = current_schema() AND s.n_live_tup > 2 * greatest(c.reltuples, 50)`;
  for (const { name } of grown) await sql`ANALYZE (SKIP_LOCKED) ${sql(name)}`;
  return grown.map(({ name }) => name);
}
