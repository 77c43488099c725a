import type { JsonObject } from '@bufbuild/protobuf';
import { EventKind } from '@holdfast/proto/history';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { type Board, hold, startBoard } from './board.js';
import { METHODS, NAMES } from './methods.js';
import { refused } from './refused.js';

let board: Board;
beforeAll(async () => {
  board = await startBoard();
});

interface Repeatable {
  readonly first: JsonObject;
  readonly other: JsonObject;
  /** What answers with the same of both. */
  readonly ref: readonly string[];
  /** Fields that make it a request that is refused. */
  readonly bad: JsonObject;
}

/** The RPCs that may be repeated, each with a request about a task of its own and another one under the same id. */
const REPEATABLE: Readonly<Record<string, (taskId: string) => Repeatable | Promise<Repeatable>>> = {
  'TaskService/CreateTask': () => ({
    first: { title: 'once' },
    other: { title: 'twice' },
    ref: ['task', 'id'],
    bad: { externalKey: '\n' },
  }),
  'TaskService/CreatePlan': () => ({
    first: { title: 'once' },
    other: { title: 'twice' },
    ref: ['plan', 'id'],
    bad: { externalKey: '\n' },
  }),
  'TaskService/AddNote': (taskId) => ({
    first: { taskId, text: 'once' },
    other: { taskId, text: 'twice' },
    ref: ['note', 'id'],
    bad: { taskId: 'none' },
  }),
  'TaskService/CompleteTask': (taskId) => ({
    first: { taskId, result: 'once' },
    other: { taskId, result: 'twice' },
    ref: ['task', 'closedAt'],
    bad: { taskId: 'none' },
  }),
  'TaskService/AddDependency': async (taskId) => {
    const { id: blockedBy } = await board.task();
    return {
      first: { taskId, blockedBy },
      other: { taskId, blockedBy, acceptDropped: true },
      ref: ['task', 'id'],
      bad: { blockedBy: 'none' },
    };
  },
  'TaskService/RemoveDependency': async (taskId) => {
    const { id: blockedBy } = await board.task();
    await board.member.tasks.addDependency({ taskId, blockedBy });
    return {
      first: { taskId, blockedBy },
      other: { taskId, blockedBy: 'another' },
      ref: ['task', 'id'],
      bad: { blockedBy: 'none' },
    };
  },
  'TaskService/ImportTasks': (taskId) => ({
    first: { tasks: [{ externalKey: `import ${taskId}`, title: 'once' }] },
    other: { tasks: [{ externalKey: `import ${taskId}`, title: 'twice' }] },
    ref: ['results', '0', 'taskId'],
    bad: { assumedKeys: ['another'] },
  }),
  'LeaseService/AcquireLease': (taskId) => ({
    first: { taskId, executionId: 'run' },
    other: { taskId, executionId: 'run', ttl: '5s' },
    ref: ['outcome', 'lease', 'id'],
    bad: { taskId: 'none' },
  }),
  'LeaseService/AcquireNextTask': () => ({
    first: { executionId: 'run' },
    other: { executionId: 'run', ttl: '5s' },
    ref: ['outcome', 'lease', 'id'],
    bad: { planId: '\n' },
  }),
  'ProjectService/CreateProject': (taskId) => ({
    first: { project: `of ${taskId}` },
    other: { project: `of ${taskId}`, title: 'other' },
    ref: ['project', 'id'],
    bad: { project: '\n' },
  }),
};

function at(answer: JsonObject, path: readonly string[]): unknown {
  const start = path[0] === 'outcome' ? answer.grant : answer[path[0] ?? ''];
  return path.slice(1).reduce<unknown>((value, key) => (value as JsonObject | undefined)?.[key], start);
}

test('these are all that may be repeated', () => {
  const repeatable = NAMES.filter((rpc) =>
    METHODS.get(rpc)?.input.fields.some(({ name }) => name === 'request_id'),
  );
  expect(repeatable.sort()).toEqual(Object.keys(REPEATABLE).sort());
});

describe.each(Object.entries(REPEATABLE))('%s', (rpc, make) => {
  const token = () => board.owner.token;
  const call = async (request: JsonObject) => {
    const result = await board.any.call(rpc, request, token());
    if (result.code !== 'Ok') throw result.error;
    return result.answer;
  };

  it('is done once, however often it is sent, also at once', async () => {
    const { id } = await board.task();
    const { first, ref } = await make(id);
    const request = { ...first, requestId: `once ${id}` };
    const answers = await Promise.all(Array.from({ length: 10 }, () => call(request)));
    answers.push(await call(request));
    const made = new Set(answers.map((answer) => at(answer, ref)));
    expect([made.size, [...made][0]]).toEqual([1, expect.any(String)]);
  });

  it('with another body under the same id is an error', async () => {
    const { id } = await board.task();
    const { first, other } = await make(id);
    await call({ ...first, requestId: `other ${id}` });
    expect(await board.any.call(rpc, { ...other, requestId: `other ${id}` }, token())).toMatchObject({
      code: 'AlreadyExists',
      message: expect.stringContaining('request_id'),
    });
  });

  it('that was refused is not remembered', async () => {
    const { id } = await board.task();
    const { first, bad } = await make(id);
    const requestId = `refused ${id}`;
    expect((await board.any.call(rpc, { ...first, ...bad, requestId }, token())).code).not.toBe('Ok');
    await call({ ...first, requestId });
  });
});

describe('a request_id', () => {
  it('is each principal’s, each RPC’s and each project’s own', async () => {
    const requestId = 'mine';
    const { task } = await board.member.tasks.createTask({ title: 'a', requestId });
    const { task: hers } = await board.admin.tasks.createTask({ title: 'a', requestId });
    expect(hers?.id).not.toBe(task?.id);
    await board.member.tasks.addNote({ taskId: task?.id ?? '', text: 'a', requestId });
    await board.owner.projects.createProject({ project: 'requests' });
    const made = await board.owner.tasks.createTask({ title: 'a', requestId });
    const there = await board.owner.tasks.createTask({ title: 'a', requestId, project: 'requests' });
    expect([made.task?.project, there.task?.project]).toEqual(['default', 'requests']);
    expect(made.task?.id).not.toBe(there.task?.id);
  });

  it('brings back the same lease without extending it, and one that is over with its end', async () => {
    const { id: taskId } = await board.task();
    const request = { taskId, executionId: 'ada-run', requestId: `lease ${taskId}` };
    const first = await board.agent.leases.acquireLease(request);
    const again = await board.agent.leases.acquireLease(request);
    const lease = first.outcome.case === 'grant' ? first.outcome.value.lease : undefined;
    expect(again.outcome).toMatchObject({
      case: 'grant',
      value: { renewed: false, lease: { id: lease?.id, fencingToken: 1n, expiresAt: lease?.expiresAt } },
    });
    await board.agent.leases.releaseLease({ leaseId: lease?.id ?? '', fencingToken: 1n });
    const late = await board.agent.leases.acquireLease(request);
    expect(late.outcome).toMatchObject({
      case: 'refusal',
      value: { reason: 6, endedLease: { id: lease?.id, state: 2 } },
    });
    const { events } = await board.viewer.history.listHistory({ taskId, kinds: [EventKind.LEASE_ACQUIRED] });
    expect(events).toHaveLength(1);
  });

  it('of a refused acquire is decided anew', async () => {
    const { id: taskId } = await board.task();
    const held = await hold(board.rival, taskId);
    const request = { taskId, executionId: 'ada-run', requestId: `anew ${taskId}` };
    expect((await board.agent.leases.acquireLease(request)).outcome).toMatchObject({ case: 'refusal' });
    await board.rival.leases.releaseLease(held);
    expect((await board.agent.leases.acquireLease(request)).outcome).toMatchObject({ case: 'grant' });
  });

  it('of a note whose task was deleted makes no second one', async () => {
    const { id: taskId } = await board.task();
    const request = { taskId, text: 'gone', requestId: `note ${taskId}` };
    await board.member.tasks.addNote(request);
    await board.member.tasks.deleteTask({ taskId });
    expect(await refused(board.member.tasks.addNote(request))).toMatchObject({ code: 'NotFound' });
  });
});
