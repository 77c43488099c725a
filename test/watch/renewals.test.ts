import type { Lease } from '@holdfast/proto/lease';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Board, hold, startBoard } from '../rpc/board.js';
import { startTestService, type TestService } from '../support/service.js';
import { Watching, type WatchRequest } from './watching.js';

let board: Board;
let other: TestService;
beforeAll(async () => {
  board = await startBoard();
  other = await startTestService({ databaseUrl: board.service.databaseUrl });
});

const onOther = (request: WatchRequest = {}) =>
  new Watching(other.client(board.viewer.token), request).begun();

const until = (lease: Lease | undefined) =>
  Number(lease?.expiresAt?.seconds) * 1e9 + Number(lease?.expiresAt?.nanos);

/** The lease of a task as it is renewed on one replica and told on the other. */
async function toldRenewal(taskId: string, renew: () => Promise<Lease | undefined>): Promise<void> {
  const watching = await onOther({ taskIds: [taskId] });
  const shown = watching.leases[0];
  const renewed = await renew();
  await watching.until(({ renewed }) => renewed.length > 0);
  expect(watching.renewed[0]).toMatchObject({
    taskId,
    id: '',
    fencingToken: shown?.fencingToken,
    holder: shown?.holder,
  });
  expect(until(watching.renewed[0])).toBe(until(renewed));
  expect(until(renewed)).toBeGreaterThan(until(shown));
  expect(watching.events).toEqual([]);
  await watching.stop();
}

describe('a new deadline is told on another replica', () => {
  it('after RenewLease', async () => {
    const { id } = await board.task();
    const proof = await hold(board.agent, id);
    await toldRenewal(id, async () => (await board.agent.leases.renewLease(proof)).lease);
  });

  it('after an acquire by its holder', async () => {
    const { id } = await board.task();
    await hold(board.agent, id);
    await toldRenewal(id, async () => {
      const { outcome } = await board.agent.leases.acquireLease({ taskId: id, executionId: 'ada-run' });
      return outcome.case === 'grant' ? outcome.value.lease : undefined;
    });
  });

  it('after RenewExecution', async () => {
    const { id } = await board.task();
    await hold(board.rival, id);
    await toldRenewal(id, async () => {
      const { renewed } = await board.rival.leases.renewExecution({ executionId: 'rob-run' });
      return renewed.find(({ taskId }) => taskId === id);
    });
  });
});

describe('renewals', () => {
  it('of hundreds of leases are told, many at once', async () => {
    const many = await startBoard();
    const ids = await Promise.all(Array.from({ length: 400 }, async () => (await many.task()).id));
    const proofs = await Promise.all(ids.map((id) => hold(many.agent, id)));
    const watching = await new Watching(many.viewer).begun();
    for (let round = 0; round < 3; round++) {
      await Promise.all(proofs.map((proof) => many.agent.leases.renewLease(proof)));
    }
    await watching.until(({ renewed }) => new Set(renewed.map(({ taskId }) => taskId)).size === ids.length);
    const messages = watching.messages.filter((message) => message.case === 'leaseState');
    expect(messages.length).toBeLessThan(40);
    await watching.stop();
  }, 60_000);

  it('pass the same filters as the leases at the start', async () => {
    const { plan } = await board.member.tasks.createPlan({ title: 'watched' });
    const planId = plan?.id ?? '';
    const { task } = await board.member.tasks.createTask({ title: 'a step', planId });
    const [step, single] = [task?.id ?? '', (await board.task()).id];
    const [first, second] = [await hold(board.agent, step), await hold(board.rival, single)];
    const all = await onOther();
    const filtered = await Promise.all(
      [{ planId }, { taskIds: [single] }, { principal: 'ada' }, { principal: 'rob', executionId: 'x' }].map(
        onOther,
      ),
    );
    await Promise.all([board.agent.leases.renewLease(first), board.rival.leases.renewLease(second)]);
    const told = ({ renewed }: Watching) =>
      [...new Set(renewed.map(({ taskId }) => taskId))].filter((id) => [step, single].includes(id));
    await all.until((watching) => told(watching).length === 2);
    for (const [i, expected] of [[step], [single], [step], []].entries()) {
      const watching = filtered[i] as Watching;
      if (expected.length > 0) await watching.until((some) => told(some).length > 0);
      expect(told(watching)).toEqual(expected);
    }
    await Promise.all([all, ...filtered].map((watching) => watching.stop()));
  });

  it('are not told of a lease whose end was told', async () => {
    const { id: taskId } = await board.task();
    const watching = await onOther({ taskIds: [taskId] });
    for (let i = 0; i < 5; i++) {
      const proof = await hold(board.agent, taskId);
      await Promise.all([
        board.agent.leases.renewLease(proof),
        new Promise((resolve) => setTimeout(resolve, 190 + 10 * i)).then(() =>
          board.agent.leases.releaseLease(proof),
        ),
      ]);
    }
    await watching.until(({ kinds }) => kinds.filter((kind) => kind === 'LEASE_RELEASED').length === 5);
    const ended = new Set<bigint>();
    for (const message of watching.messages) {
      if (message.case === 'events') {
        for (const { payload, fencingToken } of message.value.events)
          if (payload.case === 'leaseEnded') ended.add(fencingToken);
      } else if (message.case === 'leaseState') {
        for (const { fencingToken } of message.value.leases) expect(ended.has(fencingToken)).toBe(false);
      }
    }
    await watching.stop();
  });
});
