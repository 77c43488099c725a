import type { Holdfast } from '@holdfast/client';
import type { Sql } from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../support/postgres.js';
import { holdRow } from '../support/row-lock.js';
import { startTestService, type TestService } from '../support/service.js';

let service: TestService;
let sql: Sql;
let person: Holdfast;

beforeAll(async () => {
  service = await startTestService();
  sql = connect(service.databaseUrl, { max: 4 });
  person = service.client(service.ownerToken, 'run');
});
afterAll(() => sql.end({ timeout: 1 }));

test('the next task is another one while the best one is locked by a slow transaction', async () => {
  const best = await person.tasks.createTask({ title: 'the best', priority: 9 });
  const other = await person.tasks.createTask({ title: 'another' });
  const row = await holdRow(sql, 'task_state', 'task_id', best.task?.id ?? '');
  try {
    const { outcome } = await person.leases.acquireNextTask({ executionId: 'run' });
    expect(outcome.case === 'grant' && outcome.value.task?.id).toBe(other.task?.id);
  } finally {
    await row.release();
  }
});
