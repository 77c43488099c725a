import { expect, test } from 'vitest';
import { connect, createTestDatabase } from './postgres.js';

test('each test database is migrated, empty and apart from the others', async () => {
  const [one, other] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  const sql = connect(one.url, { max: 1 });
  const tables = await sql`select tablename from pg_tables where schemaname = 'public'`;
  expect(tables.length).toBeGreaterThan(0);
  await sql`create table mine ()`;
  await sql.end();

  const elsewhere = connect(other.url, { max: 1 });
  const [row] = await elsewhere`select to_regclass('mine') as found`;
  expect(row?.found).toBeNull();
  await elsewhere.end();
});

test('a dropped database is gone, sessions or not, and may be dropped again', async () => {
  const database = await createTestDatabase();
  const sql = connect(database.url, { max: 1, onclose: () => {} });
  await sql`select 1`;
  await database.drop();
  await database.drop();
  await expect(sql`select 1`).rejects.toThrow();
  await sql.end({ timeout: 1 });
});
