import type { JsonObject } from '@bufbuild/protobuf';
import { beforeAll, expect, test } from 'vitest';
import { callJson, startServe } from '../config/serve-process.js';
import { createTestDatabase } from '../support/postgres.js';
import { type Board, hold, startBoard } from './board.js';
import { methodOf, NAMES } from './methods.js';
import { requestOf } from './requests.js';

const READS = NAMES.filter((rpc) => methodOf(rpc).idempotency === 1);

let board: Board;
beforeAll(async () => {
  board = await startBoard();
});

test('a lease’s id is in no answer but its holder’s, nor in the history', async () => {
  const { plan } = await board.member.tasks.createPlan({ title: 'plan' });
  const planId = plan?.id ?? '';
  const make = async () => (await board.member.tasks.createTask({ title: 't', planId })).task?.id ?? '';
  const taskId = await make();
  const { leaseId, fencingToken } = await hold(board.agent, taskId, 600);
  const proof = { leaseId, fencingToken };
  await board.agent.tasks.addNote({ taskId, executionId: 'ada-run', text: 'note', proof });
  await board.agent.leases.renewLease({ leaseId, fencingToken, progress: 'half' });
  const ended = await make();
  const released = await hold(board.agent, ended, 600);
  await board.agent.leases.releaseLease({ ...released, note: 'enough' });

  const requests: [string, JsonObject][] = READS.flatMap((rpc) => [
    [rpc, { ...requestOf(rpc), ...('taskId' in requestOf(rpc) && { taskId }) }],
    [rpc, { ...requestOf(rpc), ...('planId' in requestOf(rpc) && { planId }) }],
  ]);
  requests.push(
    ['LeaseService/GetLease', { taskId: ended, executionId: 'ada-run' }],
    ['LeaseService/GetLease', { taskId, executionId: 'ada-run' }],
    ['LeaseService/ListLeases', { executionId: 'ada-run' }],
    ['LeaseService/ListLeases', { principal: 'ada', executionId: 'ada-run' }],
    ['LeaseService/RenewExecution', { executionId: 'ada-run' }],
    ['LeaseService/EndExecution', { executionId: 'ada-run' }],
    ['LeaseService/AcquireLease', { taskId, executionId: 'ada-run' }],
    ['LeaseService/ForceReleaseLease', { taskId, reason: 'looking' }],
    ['TaskService/CompleteTask', { taskId, executionId: 'ada-run', result: 'mine' }],
  );
  let answered = 0;
  for (const who of ['rival', 'viewer', 'member', 'admin', 'owner'] as const) {
    for (const [rpc, request] of requests) {
      const result = await board.any.call(rpc, request, board[who].token);
      const text = JSON.stringify(
        result.code === 'Ok' ? result.answer : [result.message, result.error.details],
      );
      for (const id of [leaseId, released.leaseId])
        expect([rpc, who, text.includes(id)]).toEqual([rpc, who, false]);
      if (result.code === 'Ok') answered++;
    }
  }
  expect(answered).toBeGreaterThan(60);
});

test('the holder is told its lease’s id by naming its execution, another execution of it is not', async () => {
  const { id: taskId } = await board.task();
  const { leaseId } = await hold(board.agent, taskId);
  const idTold = async (executionId: string) => {
    const { lease } = await board.agent.leases.getLease({ taskId, executionId });
    const { leases } = await board.agent.leases.listLeases({ principal: 'ada', executionId });
    return [lease?.id, leases.find((lease) => lease.taskId === taskId)?.id];
  };
  expect(await idTold('ada-run')).toEqual([leaseId, leaseId]);
  expect(await idTold('other')).toEqual(['', undefined]);
  expect(await idTold('')).toEqual(['', '']);
});

test('another’s lease can be neither renewed nor released, and is as unknown as one that never was', async () => {
  const { id: taskId } = await board.task();
  const proof = await hold(board.agent, taskId);
  for (const rpc of ['LeaseService/RenewLease', 'LeaseService/ReleaseLease']) {
    const call = (leaseId: string) => {
      const request = { leaseId, fencingToken: String(proof.fencingToken) };
      return board.any.call(rpc, request, board.rival.token);
    };
    const [theirs, none] = [await call(proof.leaseId), await call('never-was')];
    expect(theirs).toMatchObject({ code: 'NotFound' });
    if (theirs.code !== 'Ok' && none.code !== 'Ok') expect(theirs.message).toBe(none.message);
  }
});

test('a token that is not a lease’s own releases nothing', async () => {
  const { id: taskId } = await board.task();
  const { leaseId } = await hold(board.agent, taskId);
  for (const fencingToken of ['2', '-1', '9223372036854775807', '-9223372036854775808']) {
    const result = await board.any.call(
      'LeaseService/ReleaseLease',
      { leaseId, fencingToken },
      board.agent.token,
    );
    expect(result).toMatchObject({
      code: 'InvalidArgument',
      message: expect.stringMatching(/^fencing_token /),
    });
  }
  expect((await board.viewer.leases.getLease({ taskId })).lease?.state).toBe(1);
});

test('the log tells no secret at its most talkative, of calls that work, are refused or fail', async () => {
  const { url: databaseUrl, drop } = await createTestDatabase();
  const server = startServe({ args: ['--database-url', databaseUrl], env: { LOG_LEVEL: 'trace' } });
  const { url } = await server.ready;
  const owner = server.ownerToken();
  const made = await callJson(
    url,
    'ProjectService/CreateToken',
    { principal: 'ada', kind: 'PRINCIPAL_KIND_AGENT', role: 'ROLE_AGENT' },
    owner,
  );
  const agent = String(made.body.token);
  const created = await callJson(url, 'TaskService/CreateTask', { title: 'x', executionId: 'run' }, agent);
  const { id: taskId } = created.body.task as { id: string };
  const acquired = await callJson(url, 'LeaseService/AcquireLease', { taskId, executionId: 'run' }, agent);
  const { id: leaseId } = (acquired.body.grant as { lease: { id: string } }).lease;
  const wrong = `hf_${'w'.repeat(43)}`;
  await callJson(url, 'TaskService/ListTasks', {}, wrong);
  await callJson(url, 'LeaseService/RenewLease', { leaseId, fencingToken: '7' }, agent);
  await callJson(url, 'LeaseService/RenewLease', { leaseId, fencingToken: 'x' }, agent);
  await fetch(`${url}/nothing/${leaseId}?token=${agent}`, { headers: { authorization: `Bearer ${agent}` } });
  // Without its database every call fails, and the log tells why.
  await drop();
  const failed = await callJson(url, 'LeaseService/RenewLease', { leaseId, fencingToken: '1' }, agent);
  expect(failed.status).toBeGreaterThanOrEqual(500);
  await server.stop();
  const log = server.stderr() + server.stdout();
  expect(log).toContain('RenewLease');
  expect(log).toContain('"level":40');
  for (const secret of [owner, agent, wrong, leaseId, databaseUrl]) {
    expect(log.includes(secret)).toBe(false);
    expect(log.includes(Buffer.from(secret).toString('base64'))).toBe(false);
  }
});
