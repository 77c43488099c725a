import type { JsonObject } from '@bufbuild/protobuf';
import { PrincipalKind } from '@holdfast/proto/history';
import { Role } from '@holdfast/proto/project';
import { beforeAll, expect, test } from 'vitest';
import { startReceiver } from '../notify/receiver.js';
import { Watching } from '../watch/watching.js';
import { type Board, hold, type Person, startBoard } from './board.js';

let board: Board;
let abroad: Person;
beforeAll(async () => {
  board = await startBoard({ webhookPollMs: 50 });
  await board.owner.projects.createProject({ project: 'elsewhere' });
  const token = await board.service.token('AGENT', 'agent', 'ada', 'elsewhere');
  abroad = { ...board.service.client(token, 'ada-run'), token };
});

/** All that can happen to a task, in the other project: also what people are notified of. */
async function muchHappensElsewhere(): Promise<string> {
  const { task } = await abroad.tasks.createTask({ title: 'theirs', executionId: 'ada-run' });
  const taskId = task?.id ?? '';
  await abroad.tasks.addNote({ taskId, text: 'no proof', executionId: 'ada-run' });
  await hold(abroad, taskId, 1);
  // Its expiry, which webhooks and inboxes are told.
  await expect.poll(async () => (await abroad.leases.listLeases({})).leases, { timeout: 10_000 }).toEqual([]);
  return taskId;
}

test('a watch tells nothing of another project, and its positions do not count what happens there', async () => {
  const watching = new Watching(board.viewer);
  await watching.begun();
  const { task: first } = await board.member.tasks.createTask({ title: 'ours' });
  await muchHappensElsewhere();
  const { task: last } = await board.member.tasks.createTask({ title: 'ours, too' });
  await watching.until(({ events }) => events.some(({ taskId }) => taskId === last?.id));
  expect(watching.leases).toEqual([]);
  expect(new Set(watching.events.map(({ taskId }) => taskId))).toEqual(new Set([first?.id, last?.id]));
  const [from = 0] = watching.positions;
  expect(watching.positions).toEqual(watching.positions.map((_, at) => from + at));
  await watching.stop();
});

test('what is read from one project does not go on in another', async () => {
  await muchHappensElsewhere();
  const theirs = new Watching(abroad);
  await theirs.begun();
  await theirs.stop();
  const resumed = new Watching(board.admin, { resumeAfter: theirs.token });
  expect((await resumed.ended()).code).toBe('InvalidArgument');

  const [{ nextPageToken: tasks }, { nextPageToken: events }] = await Promise.all([
    abroad.tasks.listTasks({ pageSize: 1 }),
    abroad.history.listHistory({ pageSize: 1 }),
  ]);
  const call = (rpc: string, request: JsonObject) => board.any.call(rpc, request, board.admin.token);
  expect(events).not.toBe('');
  expect(await call('HistoryService/ListHistory', { pageSize: 1, pageToken: events })).toMatchObject({
    code: 'InvalidArgument',
  });
  if (tasks === '') return;
  expect(await call('TaskService/ListTasks', { pageSize: 1, pageToken: tasks })).toMatchObject({
    code: 'InvalidArgument',
  });
});

test('webhooks, inboxes and reports are of their own project', async () => {
  const [ours, theirs] = await Promise.all([startReceiver(), startReceiver()]);
  await board.admin.projects.createWebhook({ url: ours.url });
  await board.owner.projects.createWebhook({ project: 'elsewhere', url: theirs.url });
  const before = await board.admin.history.getEnforcementReport({});
  const taskId = await muchHappensElsewhere();
  await expect.poll(() => theirs.received.map((one) => one.taskId), { timeout: 15_000 }).toContain(taskId);
  expect(ours.received).toEqual([]);
  for (const who of [board.admin, board.member, board.viewer]) {
    expect((await who.history.listNotifications({})).notifications).toEqual([]);
  }
  const after = await board.admin.history.getEnforcementReport({});
  expect(after.counts).toEqual(before.counts);
  expect((await abroad.history.getEnforcementReport({})).counts).not.toEqual([]);
});

test('names that are taken in one project are free in another, and nobody can tell', async () => {
  const key = { title: 'x', externalKey: 'taken', executionId: 'ada-run' };
  const there = await abroad.tasks.createTask(key);
  const here = await board.agent.tasks.createTask(key);
  expect(here.task?.id).not.toBe(there.task?.id);
  await abroad.tasks.createPlan(key);
  await board.agent.tasks.createPlan(key);
  // An agent there, a person here.
  const asPerson = { principal: 'ada-abroad', kind: PrincipalKind.PERSON, role: Role.VIEWER };
  await board.service.token('AGENT', 'agent', 'ada-abroad', 'elsewhere');
  expect((await board.admin.projects.createToken(asPerson)).principal).toBe('ada-abroad');
  // An execution that was ended there, and a request that was done there.
  await abroad.leases.endExecution({ executionId: 'run-7' });
  const { task } = await board.member.tasks.createTask({ title: 'y', requestId: 'once' });
  await abroad.tasks.createTask({ title: 'z', requestId: 'once', executionId: 'ada-run' });
  const { outcome } = await board.agent.leases.acquireLease({ taskId: task?.id ?? '', executionId: 'run-7' });
  expect(outcome.case).toBe('grant');
});
