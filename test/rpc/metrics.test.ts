import { beforeAll, expect, test } from 'vitest';
import { readMetrics } from '../support/metrics.js';
import { type Board, hold, startBoard } from './board.js';

let board: Board;
beforeAll(async () => {
  board = await startBoard({ settings: { maxExpiries: 1 } });
});

/** By how much they grew; what did not change is left out. */
async function growth(during: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = await readMetrics(board.service.url);
  await during();
  const after = await readMetrics(board.service.url);
  const grown = Object.entries(after).map(([name, value]) => [name, value - (before[name] ?? 0)] as const);
  return Object.fromEntries(
    grown.filter(([name, by]) => by !== 0 && /^holdfast_.*(?:_total|_count$)/.test(name)),
  );
}

test('grants, takeovers, refusals and ends of leases are counted', async () => {
  const [first, second] = [await board.task(), await board.task()];
  const grown = await growth(async () => {
    await hold(board.agent, first.id);
    // Again: the same lease, no other grant.
    await hold(board.agent, first.id);
    await board.rival.leases.acquireLease({ taskId: first.id, executionId: 'rob-run' });
    await board.admin.leases.forceReleaseLease({ taskId: first.id, reason: 'test' });
    await hold(board.rival, first.id);
    await board.rival.leases.acquireNextTask({ executionId: 'rob-run' });
    await board.rival.leases.acquireNextTask({ executionId: 'rob-run' });
    await board.rival.leases.endExecution({ executionId: 'rob-run' });
  });
  expect(grown).toMatchObject({
    holdfast_grants_total: 3,
    holdfast_takeovers_total: 1,
    holdfast_revocations_total: 1,
    'holdfast_refusals_total{reason="HELD"}': 1,
    'holdfast_refusals_total{reason="NOTHING_READY"}': 1,
    holdfast_claim_seconds_count: 4,
    'holdfast_rpc_total{rpc="LeaseService/AcquireLease",code="OK"}': 4,
  });
  for (const { id } of [first, second]) await board.member.tasks.completeTask({ taskId: id });
});

test('faulty writes are counted by verdict and outcome, each of them', async () => {
  const { id: taskId } = await board.task();
  const note = () => board.agent.tasks.addNote({ taskId, text: 'x', executionId: 'ada-run' });
  const grown = await growth(async () => {
    await note();
    await note();
    await hold(board.agent, taskId);
    await board.admin.tasks.addNote({ taskId, text: 'x', overrideReason: 'because' });
  });
  expect(grown).toMatchObject({
    'holdfast_faulty_writes_total{verdict="LOCK_REQUIRED",outcome="warned"}': 2,
    'holdfast_faulty_writes_total{verdict="LOCKED_BY_OTHER",outcome="overridden"}': 1,
  });
  await board.admin.tasks.dropTask({ taskId, overrideReason: 'the test is over' });
});

test('an expiry is counted once, whoever records it, and so is the quarantine that follows', async () => {
  const { id: taskId } = await board.task();
  const grown = await growth(async () => {
    await hold(board.agent, taskId, 1);
    await expect
      .poll(async () => (await readMetrics(board.service.url)).holdfast_expiries_total, { timeout: 15_000 })
      .toBeGreaterThan(0);
  });
  expect(grown).toMatchObject({ holdfast_expiries_total: 1, holdfast_quarantines_total: 1 });
  expect(await readMetrics(board.service.url)).toMatchObject({ 'holdfast_tasks{standing="quarantined"}': 1 });
  await board.member.tasks.dropTask({ taskId });
});

test('tasks, leases and the database are told as they are', async () => {
  const { project } = await board.owner.projects.createProject({ project: 'elsewhere' });
  const [ready, held] = [await board.task(), await board.task()];
  await board.owner.tasks.createTask({ project: project?.id ?? '', title: 'ready there' });
  await board.member.tasks.createTask({ title: 'blocked', blockedBy: [ready.id] });
  await hold(board.agent, held.id);
  const told = await readMetrics(board.service.url);
  expect(told).toMatchObject({
    holdfast_live_leases: 1,
    'holdfast_tasks{standing="ready"}': 2,
    'holdfast_tasks{standing="blocked"}': 1,
    'holdfast_tasks{standing="leased"}': 1,
    'holdfast_tasks{standing="quarantined"}': 0,
  });
  expect(told['holdfast_database_connections{state="active"}']).toBeGreaterThan(0);
  expect(told.holdfast_database_seconds).toBeGreaterThan(0);
});
