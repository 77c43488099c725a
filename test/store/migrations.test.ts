import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { connect, createTestDatabase } from '../support/postgres.js';

const run = promisify(execFile);
const journal = fileURLToPath(new URL('../../src/store/migrations/meta/_journal.json', import.meta.url));

test('several processes may migrate one database at once', async () => {
  const { url } = await createTestDatabase();
  const sql = connect(url, { max: 1 });
  onTestFinished(() => sql.end());
  await sql.unsafe('DROP SCHEMA public CASCADE; DROP SCHEMA drizzle CASCADE; CREATE SCHEMA public');

  const script = fileURLToPath(new URL('migrator-process.js', import.meta.url));
  await Promise.all(Array.from({ length: 4 }, () => run(process.execPath, [script, url], { cwd: tmpdir() })));

  const { entries } = JSON.parse(readFileSync(journal, 'utf8'));
  expect(await sql`SELECT 1 FROM drizzle.__drizzle_migrations`).toHaveLength(entries.length);
  expect(await sql`SELECT id FROM project`).toEqual([{ id: 'default' }]);
  expect(await sql`SELECT 1 FROM meta`).toHaveLength(1);
  expect(await sql`SELECT 1 FROM event`).toHaveLength(1);
});
