import type { Holdfast } from '@holdfast/client';
import type { Sql } from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { brokenQueueRules } from '../queue/queue-rules.js';
import { connect } from '../support/postgres.js';
import { holdRow, untilWaiting } from '../support/row-lock.js';
import { startTestService, type TestService } from '../support/service.js';

let service: TestService;
let sql: Sql;
let person: Holdfast;

beforeAll(async () => {
  service = await startTestService();
  sql = connect(service.databaseUrl, { max: 4 });
  person = service.client(service.ownerToken);
});
afterAll(() => sql.end({ timeout: 1 }));

async function newTask(planId = ''): Promise<string> {
  const { task } = await person.tasks.createTask({ title: 'a task', labels: ['old'], planId });
  return task?.id ?? '';
}

test('a task whose labels and assignee change while it is being reopened is queued by the new ones', async () => {
  const taskId = await newTask();
  await person.tasks.completeTask({ taskId });
  const row = await holdRow(sql, 'task_state', 'task_id', taskId);
  const updated = person.tasks.updateTask({
    taskId,
    labels: ['new'],
    assignee: 'ada',
    updateMask: { paths: ['labels', 'assignee'] },
  });
  await untilWaiting(sql, 1);
  const reopened = person.tasks.reopenTask({ taskId });
  await untilWaiting(sql, 2);
  await row.release();
  await Promise.all([updated, reopened]);
  expect(await brokenQueueRules(sql)).toEqual([]);
});

test('a step that is reopened while its plan is put into another order is queued in the new order', async () => {
  const { plan } = await person.tasks.createPlan({ title: 'a plan' });
  const planId = plan?.id ?? '';
  const first = await newTask(planId);
  const second = await newTask(planId);
  await person.tasks.completeTask({ taskId: first });
  const row = await holdRow(sql, 'task_state', 'task_id', first);
  const reopened = person.tasks.reopenTask({ taskId: first });
  await untilWaiting(sql, 1);
  await person.tasks.updatePlan({ planId, stepIds: [second, first] });
  await row.release();
  await reopened;
  expect(await brokenQueueRules(sql)).toEqual([]);
});
