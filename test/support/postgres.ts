import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { afterAll, inject } from 'vitest';
import { driverTarget } from '../../src/cluster/database-url.js';
import { withDatabase } from './database-name.js';

/** A database that only this test file knows. */
export interface TestDatabase {
  /** For `driverTarget`, psql and everything of libpq. */
  readonly url: string;
  /** Ends its sessions and deletes it. May be called more than once. */
  drop(): Promise<void>;
}

const made = new Set<TestDatabase>();
let administrator: postgres.Sql | undefined;

/** Makes a migrated, empty database. It is dropped at the end of the test file, if the test did not do so before. */
export function createTestDatabase(): Promise<TestDatabase> {
  return createFrom(inject('postgresTemplate'));
}

/** Makes a copy of a test database, as a backup is one. Nobody may be connected to it: its sessions are ended. */
export async function copyTestDatabase(url: string): Promise<TestDatabase> {
  const original = new URL(url).pathname.slice(1);
  await run(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${original}'`);
  return createFrom(original);
}

async function createFrom(template: string): Promise<TestDatabase> {
  const name = `holdfast_test_${randomUUID().replaceAll('-', '').slice(0, 16)}`;
  await run(`create database ${name} template ${template}`);
  const database: TestDatabase = {
    url: withDatabase(inject('postgresUrl'), name),
    drop: async () => {
      made.delete(database);
      await run(`drop database if exists ${name} with (force)`);
    },
  };
  made.add(database);
  return database;
}

/** A postgres.js client for a test database. The caller ends it. */
export function connect(url: string, options: postgres.Options<Record<string, never>> = {}): postgres.Sql {
  const target = driverTarget(url);
  return postgres(target.url, { onnotice: () => {}, ...target.options, ...options });
}

// Hooks run in reverse order: the file's own, which end its servers and clients, come before this one.
afterAll(async () => {
  for (const database of [...made]) await database.drop();
  await administrator?.end();
  administrator = undefined;
});

async function run(statement: string): Promise<void> {
  administrator ??= connect(inject('postgresUrl'), { max: 1 });
  await administrator.unsafe(statement);
}
