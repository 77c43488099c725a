import { type Task, TaskStatus } from '@holdfast/proto/task';
import { expect, test } from 'vitest';
import { startBoard } from './board.js';

/** What is wrong with a task as an answer shows it: status, holder and deadline must tell the same. */
function contradiction({ id, status, holder, leaseExpiresAt, fencingToken, attempt }: Task): string[] {
  const held = status === TaskStatus.IN_PROGRESS;
  return [
    held !== (holder !== undefined) && `${id}: ${TaskStatus[status]} with the holder ${holder?.principal}`,
    held !== (leaseExpiresAt !== undefined) && `${id}: ${TaskStatus[status]} with a deadline or without`,
    held && fencingToken === 0n && `${id}: held without a token`,
    BigInt(attempt) !== fencingToken && `${id}: attempt ${attempt} of token ${fencingToken}`,
  ].filter((found) => found !== false);
}

test('no answer contradicts itself while tasks are claimed, released and run out', {
  timeout: 60_000,
}, async () => {
  const board = await startBoard();
  const ids = await Promise.all(Array.from({ length: 6 }, async () => (await board.task('churn')).id));
  const until = performance.now() + 4_000;
  const busy = () => performance.now() < until;
  let [grants, expiries, read] = [0, 0, 0];

  const churn = async (who: typeof board.agent, n: number) => {
    for (let at = n; busy(); at++) {
      const taskId = ids[at % ids.length] ?? '';
      const executionId = `run ${n}`;
      const { outcome } = await who.leases.acquireLease({ taskId, executionId, ttl: { seconds: 1n } });
      if (outcome.case !== 'grant') continue;
      grants++;
      expect(contradiction(outcome.value.task as Task)).toEqual([]);
      expect(outcome.value.task?.holder).toMatchObject({
        principal: who === board.agent ? 'ada' : 'rob',
        executionId,
      });
      const { id: leaseId = '', fencingToken = 0n } = outcome.value.lease ?? {};
      // Every third is left to run out.
      if (at % 3 === 0) expiries++;
      else await who.leases.releaseLease({ leaseId, fencingToken });
    }
  };
  const watch = async () => {
    while (busy()) {
      const [{ tasks }, open, held, leases] = await Promise.all([
        board.viewer.tasks.listTasks({}),
        board.viewer.tasks.listTasks({ statuses: [TaskStatus.OPEN] }),
        board.viewer.tasks.listTasks({ statuses: [TaskStatus.IN_PROGRESS] }),
        board.viewer.leases.listLeases({}),
      ]);
      expect(tasks).toHaveLength(6);
      expect([...tasks, ...open.tasks, ...held.tasks].flatMap(contradiction)).toEqual([]);
      expect(open.tasks.filter(({ status }) => status !== TaskStatus.OPEN)).toEqual([]);
      expect(held.tasks.filter(({ status }) => status !== TaskStatus.IN_PROGRESS)).toEqual([]);
      expect(leases.leases.filter(({ state, remaining }) => state !== 1 || !remaining)).toEqual([]);
      expect(new Set(leases.leases.map(({ taskId }) => taskId)).size).toBe(leases.leases.length);
      read++;
    }
  };
  await Promise.all([
    churn(board.agent, 0),
    churn(board.agent, 1),
    churn(board.rival, 2),
    churn(board.rival, 3),
    watch(),
  ]);
  expect(Math.min(grants - expiries, expiries, read)).toBeGreaterThan(3);
});
