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

async function newTask(externalKey: string, blockedBy: string[] = []): Promise<string> {
  const { task } = await person.tasks.createTask({ title: externalKey, externalKey, blockedBy });
  return task?.id ?? '';
}

/** Whatever comes of it: the rules of the queue judge. */
const settled = (call: Promise<unknown>) => call.catch(() => {});

/** `waiting` waits for `parent`; `blocker` is about to wait for `waiting`. The order of the locks is that of the ids. */
async function almostCycle(name: string) {
  const parent = await newTask(`${name} parent`);
  const blocker = await newTask(`${name} blocker`);
  const waiting = await newTask(`${name} waiting`, [parent]);
  return { parent, blocker, waiting };
}

test('a sub-task whose dependency comes to wait for its parent meanwhile closes no cycle', async () => {
  const { parent, blocker, waiting } = await almostCycle('created');
  const row = await holdRow(sql, 'task_state', 'task_id', parent);
  const created = settled(
    person.tasks.createTask({ title: 'child', parentId: parent, blockedBy: [blocker] }),
  );
  await untilWaiting(sql, 1);
  await person.tasks.addDependency({ taskId: blocker, blockedBy: waiting });
  await row.release();
  await created;
  expect(await brokenQueueRules(sql)).toEqual([]);
});

test('an imported sub-task whose dependency comes to wait for its parent meanwhile closes no cycle', async () => {
  const { parent, blocker, waiting } = await almostCycle('imported');
  const row = await holdRow(sql, 'task_state', 'task_id', parent);
  const imported = settled(
    person.tasks.importTasks({
      tasks: [
        { externalKey: 'child', title: 'child', parent: 'imported parent', blockedBy: ['imported blocker'] },
      ],
    }),
  );
  await untilWaiting(sql, 1);
  await person.tasks.addDependency({ taskId: blocker, blockedBy: waiting });
  await row.release();
  await imported;
  expect(await brokenQueueRules(sql)).toEqual([]);
});
