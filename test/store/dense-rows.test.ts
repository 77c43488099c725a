import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../src/store/database.js';
import { createTestDatabase } from '../support/postgres.js';

let database: Database;
beforeAll(async () => {
  // One connection, so that each statement follows the failed one on it.
  database = openDatabase({ url: (await createTestDatabase()).url, poolSize: 1 });
});
afterAll(() => database.close());

/** A statement that answers three rows, and then fails. */
const failLate = () =>
  database.sql`SELECT i, 1 / (4 - i) FROM generate_series(1, 10) i`.then(
    () => 'passed',
    (error) => error.code,
  );

test.each([
  ['a statement', () => database.sql`SELECT x FROM generate_series(1, 2) x`],
  ['a text', () => database.sql.unsafe('SELECT x FROM generate_series(1, $1::int) x', [2])],
  [
    'two texts',
    async () => (await database.sql.unsafe('SELECT 1 AS x UNION SELECT 2; SELECT 3').simple())[0],
  ],
  ['a transaction', () => database.sql.begin((sql) => sql`SELECT x FROM generate_series(1, 2) x`)],
  ['drizzle', () => database.orm.execute('SELECT x FROM generate_series(1, 2) x')],
])('%s behind one that failed after its first rows has its rows from the first place on', async (_, ask) => {
  expect(await failLate()).toBe('22012');
  expect([...((await ask()) as unknown as Iterable<unknown>)]).toEqual([{ x: 1 }, { x: 2 }]);
});

test('also when it was sent before that one had failed', async () => {
  const [failure, rows] = await Promise.all([
    failLate(),
    database.sql`SELECT x FROM generate_series(1, 2) x`,
  ]);
  expect([failure, [...rows]]).toEqual(['22012', [{ x: 1 }, { x: 2 }]]);
});
