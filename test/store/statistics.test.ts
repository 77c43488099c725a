import { beforeAll, expect, test } from 'vitest';
import { analyzeGrown } from '../../src/store/statistics.js';
import { openStores, type Stores } from './fixture.js';

let db: Stores;
beforeAll(async () => {
  db = await openStores();
});

const rowsKnown = async (table: string) =>
  Number((await db.sql`SELECT reltuples FROM pg_class WHERE oid = ${table}::regclass`)[0]?.reltuples);

test('tables that grew are counted anew, and only those', async () => {
  const [store] = db.stores;
  const session = await db.sql.reserve();
  await session`
    INSERT INTO execution (project, principal, id) SELECT 'default', 'ada', n::text FROM generate_series(1, 300) n`;
  // Else Postgres itself hears of the new rows some seconds after their commit.
  await session`SELECT pg_stat_force_next_flush()`;
  session.release();
  await expect.poll(() => analyzeGrown(store), { timeout: 15_000 }).toContain('execution');
  expect(await rowsKnown('execution')).toBe(300);
  expect(await analyzeGrown(store)).not.toContain('execution');
  expect(await rowsKnown('note')).toBeLessThanOrEqual(0);
});
