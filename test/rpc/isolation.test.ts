import type { JsonObject } from '@bufbuild/protobuf';
import { beforeAll, expect, test } from 'vitest';
import { type Board, hold, type Person, ROLES, startBoard } from './board.js';
import { METHODS, NAMES } from './methods.js';
import { requestOf } from './requests.js';

let board: Board;
let abroad: Person;
/** Things of another project, by the name of the field that a request names them with. */
let foreign: Readonly<Record<string, string>>;

beforeAll(async () => {
  board = await startBoard();
  await board.owner.projects.createProject({ project: 'elsewhere' });
  const token = await board.service.token('AGENT', 'agent', 'ada', 'elsewhere');
  abroad = { ...board.service.client(token, 'ada-run'), token };
  const tasks = await Promise.all(
    ['leased', 'quiet'].map((externalKey) =>
      abroad.tasks.createTask({ title: 'theirs', externalKey, executionId: 'ada-run' }),
    ),
  );
  const taskId = tasks[0]?.task?.id ?? '';
  const { plan } = await abroad.tasks.createPlan({ title: 'theirs', executionId: 'ada-run' });
  const { leaseId } = await hold(abroad, taskId);
  const { tokens } = await board.owner.projects.listTokens({ project: 'elsewhere' });
  const url = 'http://127.0.0.1:9/';
  const { webhook } = await board.owner.projects.createWebhook({ project: 'elsewhere', url });
  foreign = {
    taskId,
    leaseId,
    planId: plan?.id ?? '',
    externalKey: 'leased',
    tokenId: tokens[0]?.id ?? '',
    webhookId: webhook?.id ?? '',
  };
});

const KEYED: readonly [string, JsonObject][] = [
  ['TaskService/GetTask', { externalKey: 'leased' }],
  ['TaskService/GetPlan', { externalKey: 'leased' }],
  ['TaskService/CreateTask', { title: 'x', planId: 'none', executionId: 'ada-run' }],
  ['LeaseService/GetLease', { leaseId: 'none' }],
];

test('a thing of another project is as unknown as one that never was', async () => {
  const requests = [...NAMES.map((rpc): [string, JsonObject] => [rpc, requestOf(rpc)]), ...KEYED];
  let compared = 0;
  for (const [rpc, request] of requests) {
    for (const field of Object.keys(foreign)) {
      if (!(field in request) || rpc === 'TaskService/CreatePlan') continue;
      const theirs = foreign[field] ?? '';
      for (const role of ['agent', 'admin'] as const) {
        const with_ = (value: string) =>
          board.any.call(rpc, { ...request, [field]: value }, board[role].token);
        const [there, nowhere] = [await with_(theirs), await with_('never-was')];
        if (there.code === 'PermissionDenied') continue;
        expect([rpc, there.code]).toEqual([rpc, 'NotFound']);
        const text = (result: typeof there) => (result.code === 'Ok' ? '' : result.message);
        expect(text(there).replaceAll(theirs, '…')).toBe(text(nowhere).replaceAll('never-was', '…'));
        compared++;
      }
    }
  }
  expect(compared).toBeGreaterThan(25);
});

test('another project’s holder may not be spoken for, though principal and execution have the same names', async () => {
  const proof = { leaseId: foreign.leaseId ?? '', fencingToken: '1' };
  for (const rpc of ['LeaseService/RenewLease', 'LeaseService/ReleaseLease']) {
    expect(await board.any.call(rpc, proof, board.agent.token)).toMatchObject({ code: 'NotFound' });
  }
  expect(
    await board.any.call('LeaseService/RenewExecution', { executionId: 'ada-run' }, board.agent.token),
  ).toEqual({ code: 'Ok', answer: {} });
  await board.any.call('LeaseService/EndExecution', { executionId: 'ada-run' }, board.agent.token);
  const { leases } = await abroad.leases.listLeases({});
  expect(leases.map(({ taskId }) => taskId)).toEqual([foreign.taskId]);
});

test('who is no owner may name its own project and no other, in every RPC', async () => {
  const named = NAMES.filter(
    (rpc) =>
      METHODS.get(rpc)?.input.fields.some(({ name }) => name === 'project') && !rpc.endsWith('CreateProject'),
  );
  expect(named.length).toBeGreaterThan(20);
  for (const rpc of named) {
    for (const role of ROLES.filter((role) => role !== 'owner')) {
      const call = (project: string) =>
        board.any.call(rpc, { ...requestOf(rpc), project }, board[role].token);
      const [theirs, none] = [await call('elsewhere'), await call('nowhere')];
      if (theirs.code === 'PermissionDenied') continue;
      expect([rpc, role, theirs.code, none.code]).toEqual([rpc, role, 'NotFound', 'NotFound']);
      if (theirs.code === 'Ok' || none.code === 'Ok') continue;
      expect(theirs.message.replace('elsewhere', '…')).toBe(none.message.replace('nowhere', '…'));
      expect((await call('default')).code).not.toBe('InvalidArgument');
    }
  }
});

test('an owner may name any project, and one that is not there is NOT_FOUND', async () => {
  const { task } = await board.owner.tasks.getTask({ project: 'elsewhere', externalKey: 'leased' });
  expect(task?.id).toBe(foreign.taskId);
  const { lease } = await board.owner.leases.forceReleaseLease({
    project: 'elsewhere',
    taskId: foreign.taskId ?? '',
    reason: 'stuck',
  });
  expect(lease?.endedBy).toBe('owner');
  expect(
    await board.any.call('TaskService/ListTasks', { project: 'nowhere' }, board.owner.token),
  ).toMatchObject({
    code: 'NotFound',
  });
  const { projects } = await board.owner.projects.listProjects({});
  expect(projects.map(({ id }) => id)).toEqual(['default', 'elsewhere']);
});

test('others see their own project alone', async () => {
  for (const role of ROLES.filter((role) => role !== 'owner')) {
    const { projects, nextPageToken } = await board[role].projects.listProjects({ pageSize: 1 });
    expect([projects.map(({ id }) => id), nextPageToken]).toEqual([['default'], '']);
  }
  expect((await abroad.projects.listProjects({})).projects.map(({ id }) => id)).toEqual(['elsewhere']);
});

test('lists and the history tell nothing of another project', async () => {
  for (const rpc of [
    'TaskService/ListTasks',
    'LeaseService/ListLeases',
    'HistoryService/ListHistory',
    'ProjectService/ListTokens',
    'ProjectService/ListWebhooks',
  ]) {
    const text = JSON.stringify(await board.any.call(rpc, {}, board.admin.token));
    for (const secret of [...Object.values(foreign).filter((value) => value !== 'leased'), 'elsewhere']) {
      expect(text).not.toContain(secret);
    }
  }
});
