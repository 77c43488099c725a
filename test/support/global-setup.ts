import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import type { TestProject } from 'vitest/node';
import { driverTarget } from '../../src/cluster/database-url.js';
import { migrate } from '../../src/store/migrate.js';
import { withDatabase } from './database-name.js';
import { startTestServer } from './postgres-server.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where databases are made and dropped. */
    postgresUrl: string;
    /** The name of the migrated database that tests clone. */
    postgresTemplate: string;
  }
}

/** Runs before all tests: one server, and on it one migrated database for `createTestDatabase` to clone. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startTestServer();
  console.log(`Tests run on ${server.description}`);
  const template = `holdfast_template_${randomUUID().slice(0, 8)}`;
  try {
    await onServer(server.url, `create database ${template}`);
    await migrate({ url: withDatabase(server.url, template) });
  } catch (error) {
    await server.stop();
    throw error;
  }
  project.provide('postgresUrl', server.url);
  project.provide('postgresTemplate', template);
  return async () => {
    await onServer(server.url, `drop database if exists ${template} with (force)`);
    await server.stop();
  };
}

async function onServer(url: string, statement: string): Promise<void> {
  const target = driverTarget(url);
  const sql = postgres(target.url, { ...target.options, max: 1, onnotice: () => {} });
  try {
    await sql.unsafe(statement);
  } finally {
    await sql.end();
  }
}
