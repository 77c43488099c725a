import { afterAll, beforeAll, expect, test } from 'vitest';
import { Cli } from '../cli/holdfast-process.js';
import { httpAgent } from '../mcp/agent.js';
import { type Board, startBoard } from '../rpc/board.js';

// One agent, by several ways in: what one of them was granted, the others may use.

let board: Board;
let cli: Cli;
beforeAll(async () => {
  board = await startBoard({ settings: { enforcement: 'ENFORCE' } });
  // The same principal, in another spelling and with another token.
  const token = await board.service.token('AGENT', 'agent', 'ADA');
  cli = new Cli({ HOLDFAST_URL: board.service.url, HOLDFAST_TOKEN: token, HOLDFAST_EXECUTION_ID: 'ada-run' });
});
afterAll(() => cli?.remove());

test('what the command line claimed, a tool renews and the client completes', async () => {
  const { id: taskId } = await board.task();
  const claimed = JSON.parse((await cli.run('claim', taskId, '--json')).stdout);
  const { id: leaseId, fencingToken, holder } = claimed.grant.lease;
  expect(holder).toEqual({ principal: 'ada', executionId: 'ada-run' });

  const agent = await httpAgent({ url: board.service.url, token: board.agent.token });
  const renewed = await agent.call('renew_lease', { task_id: taskId, execution_id: 'ada-run' });
  expect(renewed.lease.fencing_token).toBe(fencingToken);

  const proof = { leaseId, fencingToken: BigInt(fencingToken) };
  const { task } = await board.agent.tasks.completeTask({ taskId, proof, executionId: 'ada-run' });
  expect(task?.closedBy).toBe('ada');
});

test('what a tool acquired, the command line completes', async () => {
  const { id: taskId } = await board.task();
  const agent = await httpAgent({ url: board.service.url, token: board.agent.token });
  expect(await agent.call('acquire_task', { task_id: taskId, execution_id: 'ada-run' })).toMatchObject({
    acquired: true,
  });
  expect(await cli.run('task', 'done', taskId, '--result', 'by both')).toMatchObject({ code: 0 });
  expect((await board.viewer.tasks.getTask({ taskId })).task).toMatchObject({
    closedBy: 'ada',
    result: 'by both',
  });
});

test('another execution of it is another holder, by whatever way it comes', async () => {
  const { id: taskId } = await board.task();
  expect((await cli.run('claim', taskId)).code).toBe(0);
  const agent = await httpAgent({ url: board.service.url, token: board.agent.token });
  expect(await agent.call('acquire_task', { task_id: taskId, execution_id: 'other-run' })).toMatchObject({
    acquired: false,
    reason: 'HELD',
  });
  expect(await agent.fail('complete_task', { task_id: taskId, execution_id: 'other-run' })).toContain(
    'LOCKED_BY_OTHER',
  );
});
