import { drizzle } from 'drizzle-orm/postgres-js';
import { migrate as applyMigrations } from 'drizzle-orm/postgres-js/migrator';
import postgres from 'postgres';
import { driverTarget } from '../cluster/database-url.js';
import { packageFile } from '../package-file.js';

const migrationsFolder = packageFile('src/store/migrations');

/** Replicas start together: the second waits here and finds nothing left to do. */
const LOCK = 'holdfast.migrate';

/**
 * Brings a database to this version's schema. Safe to call from any number of processes at once.
 *
 * One connection of its own, one statement at a time: a pool could run the later statements of a torn
 * transaction outside of it.
 */
export async function migrate({ url }: { url: string }): Promise<void> {
  const target = driverTarget(url);
  const sql = postgres(target.url, { ...target.options, max: 1, onnotice: () => {} });
  try {
    await requireSupportedServer(sql);
    await sql`SELECT pg_advisory_lock(hashtextextended(${LOCK}, 0))`;
    await applyMigrations(drizzle(sql), { migrationsFolder });
  } finally {
    await sql.end({ timeout: 5 });
  }
}

async function requireSupportedServer(sql: postgres.Sql): Promise<void> {
  const [row] = await sql<{ version: string }[]>`SELECT current_setting('server_version_num') AS version`;
  const major = Math.floor(Number(row?.version) / 10_000);
  if (major < 15) throw new Error(`Holdfast needs Postgres 15 or newer; this server is version ${major}.`);
}
