import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { Enforcement } from '@holdfast/proto/guard';
import { EventKind } from '@holdfast/proto/history';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { type Board, hold, startBoard } from './board.js';
import { refused } from './refused.js';

let board: Board;
beforeAll(async () => {
  board = await startBoard();
});

const HOUR = 3600;
let projects = 0;

/** A project of its own with some settings, and an agent in it with a task. */
async function projectWith(settings: JsonObject) {
  const project = `project ${++projects}`;
  await board.owner.projects.createProject({ project });
  await set(project, settings);
  const token = await board.service.token('AGENT', 'agent', 'ada', project);
  const agent = { ...board.service.client(token, 'run'), token };
  const { task } = await agent.tasks.createTask({ title: 'a task', executionId: 'run' });
  return { project, agent, taskId: task?.id ?? '' };
}

async function set(project: string, settings: JsonObject): Promise<void> {
  const request = { project, settings };
  const result = await board.any.call('ProjectService/UpdateProject', request, board.owner.token);
  if (result.code !== 'Ok') throw result.error;
}

/** Acquires over JSON, as a request says, and tells the lease's TTL and life left, in seconds. */
async function acquire(token: string, taskId: string, ttl?: JsonValue) {
  const request = { taskId, executionId: 'run', ...(ttl !== undefined && { ttl }) };
  const result = await board.any.call('LeaseService/AcquireLease', request, token);
  if (result.code !== 'Ok') throw result.error;
  const { lease } = result.answer.grant as { lease: { ttl: string; remaining: string } };
  return { ttl: Number(lease.ttl.slice(0, -1)), remaining: Number(lease.remaining.slice(0, -1)) };
}

describe('a TTL', () => {
  test.each([
    ['absent', undefined, 900],
    ['zero', '0s', 900],
    ['a second', '1s', 1],
    ['a second and a bit', '1.000001s', 1.000001],
    ['20 minutes', '1200s', 1200],
    ['the maximum', '7200s', 7200],
    ['above the maximum', '10800s', 7200],
    ['24 hours told as nanoseconds by mistake, in seconds', '86400000000s', undefined],
  ])('%s is honoured or capped, and told', async (_, ttl, applied) => {
    const { id } = await board.task();
    if (applied === undefined) {
      const request = { taskId: id, executionId: 'run', ttl: ttl ?? null };
      const result = await board.any.call('LeaseService/AcquireLease', request, board.agent.token);
      expect(result).toMatchObject({ code: 'InvalidArgument', message: expect.stringMatching(/^ttl /) });
      return;
    }
    const lease = await acquire(board.agent.token, id, ttl);
    expect(lease.ttl).toBe(applied);
    expect(lease.remaining).toBeGreaterThan(applied - 30);
    expect(lease.remaining).toBeLessThanOrEqual(applied);
  });

  test.each([
    ['negative', { seconds: -1n, nanos: 0 }],
    ['negative by a nanosecond', { seconds: 0n, nanos: -1 }],
    ['one nanosecond', { seconds: 0n, nanos: 1 }],
    ['just under a second', { seconds: 0n, nanos: 999_999_999 }],
    ['a millisecond', { seconds: 0n, nanos: 1_000_000 }],
    ['2^63-1 seconds', { seconds: 2n ** 63n - 1n, nanos: 0 }],
    ['-2^63 seconds', { seconds: -(2n ** 63n), nanos: 0 }],
    ['of mixed signs', { seconds: 5n, nanos: -1 }],
    ['of mixed signs, the other way', { seconds: -5n, nanos: 1 }],
    ['with a second of nanoseconds', { seconds: 5n, nanos: 1_000_000_000 }],
    ['beyond what a Duration may be', { seconds: 315_576_000_001n, nanos: 0 }],
  ])('that is %s is refused, and nothing is written', async (_, ttl) => {
    const { id: taskId } = await board.task();
    const { leaseId, fencingToken } = await hold(board.rival, (await board.task()).id);
    const calls = [
      () => board.agent.leases.acquireLease({ taskId, executionId: 'run', ttl }),
      () => board.rival.leases.renewLease({ leaseId, fencingToken, ttl, progress: 'x' }),
      () => board.rival.leases.renewExecution({ executionId: 'rob-run', ttl }),
    ];
    for (const call of calls) {
      expect(await refused(call())).toMatchObject({ code: 'InvalidArgument', field: 'ttl' });
    }
    const { events } = await board.viewer.history.listHistory({ taskId });
    expect(events.map(({ kind }) => EventKind[kind])).toEqual(['TASK_CREATED', 'TASK_READY']);
  });

  test.each([
    'NaN',
    '"NaN"',
    '"NaNs"',
    '"Infinitys"',
    '1e3',
    '"1e3s"',
    '"1.0000000001s"',
    '60',
    '"60"',
    '[]',
    'true',
  ])('of %s in JSON is refused', async (ttl) => {
    const { id } = await board.task();
    const response = await fetch(`${board.service.url}/holdfast.v1.LeaseService/AcquireLease`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${board.agent.token}` },
      body: `{"taskId":"${id}","executionId":"run","ttl":${ttl}}`,
    });
    expect([response.status, await response.json()]).toMatchObject([400, { code: 'invalid_argument' }]);
  });

  it('does not shorten a lease at renewal', async () => {
    const { id: taskId } = await board.task();
    const { leaseId, fencingToken } = await hold(board.agent, taskId, 1000);
    const { lease: before } = await board.agent.leases.getLease({ leaseId });
    const { lease } = await board.agent.leases.renewLease({ leaseId, fencingToken, ttl: { seconds: 1n } });
    expect(lease?.expiresAt).toEqual(before?.expiresAt);
    const longer = await board.agent.leases.renewLease({ leaseId, fencingToken, ttl: { seconds: 2000n } });
    expect(Number(longer.lease?.expiresAt?.seconds)).toBeGreaterThan(
      Number(before?.expiresAt?.seconds) + 900,
    );
  });
});

describe('a project’s settings', () => {
  it('set what leases get', async () => {
    const { agent, taskId } = await projectWith({ defaultTtl: '60s', maxTtl: '120s' });
    expect(await acquire(agent.token, taskId)).toMatchObject({ ttl: 60 });
    expect(await acquire(agent.token, taskId, '3600s')).toMatchObject({ ttl: 120 });
  });

  it('cap a default that is above the maximum', async () => {
    const { agent, taskId } = await projectWith({ maxTtl: '30s' });
    expect(await acquire(agent.token, taskId)).toMatchObject({ ttl: 30 });
  });

  it('cap a lease’s age, also a renewed one’s', async () => {
    const { agent, taskId } = await projectWith({ maxAge: '100s' });
    const lease = await acquire(agent.token, taskId, '3600s');
    expect(lease.remaining).toBeLessThanOrEqual(100);
    expect((await acquire(agent.token, taskId, '3600s')).remaining).toBeLessThanOrEqual(100);
  });

  it('hold from the moment they are set', async () => {
    const { project, agent, taskId } = await projectWith({ enforcement: 'ENFORCEMENT_ENFORCE' });
    const write = { taskId, executionId: 'run', text: 'note' };
    expect(await refused(agent.tasks.addNote(write))).toMatchObject({
      code: 'FailedPrecondition',
      verdict: 'LOCK_REQUIRED',
    });
    const audit = async () => {
      const { events } = await agent.history.listHistory({
        taskId,
        kinds: [EventKind.WRITE_WARNED, EventKind.WRITE_REJECTED],
      });
      return events.map(({ kind, repeats }) => [EventKind[kind], repeats]);
    };
    expect(await audit()).toEqual([['WRITE_REJECTED', 0]]);
    await set(project, { enforcement: 'ENFORCEMENT_WARN' });
    await agent.tasks.addNote(write);
    await agent.tasks.addNote(write);
    expect((await audit())[1]).toEqual(['WRITE_WARNED', 1]);
    await set(project, { enforcement: 'ENFORCEMENT_OFF' });
    await agent.tasks.addNote({ ...write, proof: { leaseId: 'nonsense', fencingToken: 99n } });
    expect(await audit()).toHaveLength(2);
    const check = await agent.leases.checkLease({ taskId, executionId: 'run' });
    expect(check).toMatchObject({ allowed: false, enforcement: Enforcement.OFF });
  });

  it('change one by one, and their history says from what to what', async () => {
    const { project } = await projectWith({});
    const before = (await board.owner.projects.getProject({ project })).project;
    expect(before?.settings).toMatchObject({ enforcement: 0 });
    expect(before?.effectiveSettings).toMatchObject({ enforcement: Enforcement.WARN, maxExpiries: 5 });
    await set(project, { maxExpiries: 0, maxTtl: '3600s' });
    await set(project, { enforcement: 'ENFORCEMENT_ENFORCE' });
    await set(project, { enforcement: 'ENFORCEMENT_ENFORCE' });
    const after = (await board.owner.projects.getProject({ project })).project;
    expect(after?.effectiveSettings).toMatchObject({
      enforcement: Enforcement.ENFORCE,
      maxExpiries: 0,
      maxTtl: { seconds: BigInt(HOUR) },
      defaultTtl: { seconds: 900n },
    });
    const { events } = await board.owner.history.listHistory({
      project,
      kinds: [EventKind.SETTINGS_CHANGED],
    });
    const changes = events.map(({ payload }) =>
      payload.case === 'projectChanged'
        ? payload.value.changes.map(({ field, before, after }) => `${field}: ${before} → ${after}`)
        : [],
    );
    expect(changes).toEqual([
      ['settings.max_ttl: default → 1 h', 'settings.max_expiries: default → 0'],
      ['settings.enforcement: default → ENFORCE'],
    ]);
  });

  test.each([
    ['settings.default_ttl', { defaultTtl: '0s' }],
    ['settings.max_ttl', { maxTtl: '0.5s' }],
    ['settings.max_age', { maxAge: '-1s' }],
    ['settings.max_expiries', { maxExpiries: -1 }],
    ['settings.max_expiries', { maxExpiries: 2 ** 31 - 1 }],
    ['settings.enforcement', { enforcement: 77 }],
    ['settings.max_ttl', { maxTtl: '315576000000s' }],
  ])('%s is refused when it is %o', async (field, settings) => {
    const request = { settings: settings as JsonObject };
    expect(await board.any.call('ProjectService/UpdateProject', request, board.admin.token)).toMatchObject({
      code: 'InvalidArgument',
      message: expect.stringContaining(`${field} `),
    });
  });

  it('as long as they may be do not break a lease', async () => {
    const longest = `${Math.floor(Number.MAX_SAFE_INTEGER / 1e6)}s`;
    const { agent, taskId } = await projectWith({ maxTtl: longest, defaultTtl: longest, maxAge: '0s' });
    expect((await acquire(agent.token, taskId)).ttl).toBeGreaterThan(9e9);
    const { lease } = await agent.leases.getLease({ taskId });
    expect(lease?.state).toBe(1);
    const made = await board.admin.projects.createToken({
      principal: 'methuselah',
      kind: 1,
      role: 1,
      expiresIn: { seconds: 9_007_199_254n },
    });
    expect((await board.service.client(made.token).projects.whoAmI({})).expiresAt).toEqual(made.expiresAt);
  });
});
