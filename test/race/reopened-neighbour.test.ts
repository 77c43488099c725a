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
  person = service.client(service.ownerToken, 'run');
});
afterAll(() => sql.end({ timeout: 1 }));

async function newTask(blockedBy: string[] = []): Promise<string> {
  const { task } = await person.tasks.createTask({ title: 'a task', blockedBy });
  return task?.id ?? '';
}

/** Runs two writes at the same moment, so that the second began before the first was committed, and comes after it. */
async function inTurn(lockedTask: string, first: () => Promise<unknown>, second: () => Promise<unknown>) {
  const row = await holdRow(sql, 'task_state', 'task_id', lockedTask);
  const one = first();
  await untilWaiting(sql, 1);
  const two = second();
  await untilWaiting(sql, 2);
  await row.release();
  await Promise.all([one, two]);
}

const next = async () => (await person.leases.acquireNextTask({ executionId: 'run' })).outcome;

test('a task that is reopened while what it waits for is completed becomes ready', async () => {
  const blocker = await newTask();
  const waiting = await newTask([blocker]);
  await person.tasks.dropTask({ taskId: waiting });
  await inTurn(
    waiting,
    () => person.tasks.reopenTask({ taskId: waiting }),
    () => person.tasks.completeTask({ taskId: blocker }),
  );
  expect(await brokenQueueRules(sql)).toEqual([]);
  const outcome = await next();
  expect(outcome.case === 'grant' && outcome.value.task?.id).toBe(waiting);
  await person.tasks.dropTask({ taskId: waiting });
});

test('a task that is reopened while what it waits for is reopened is blocked, and holds up nobody', async () => {
  const blocker = await newTask();
  const waiting = await newTask([blocker]);
  await person.tasks.updateTask({ taskId: waiting, priority: 9 });
  await person.tasks.completeTask({ taskId: blocker });
  await person.tasks.completeTask({ taskId: waiting });
  await inTurn(
    waiting,
    () => person.tasks.reopenTask({ taskId: waiting }),
    () => person.tasks.reopenTask({ taskId: blocker }),
  );
  const outcome = await next();
  expect(outcome.case === 'grant' && outcome.value.task?.id).toBe(blocker);
  expect(await brokenQueueRules(sql)).toEqual([]);
});
