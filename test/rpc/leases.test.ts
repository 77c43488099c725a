import { durationMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { LockedByOther } from '@holdfast/client';
import { LeaseState } from '@holdfast/proto/guard';
import { EventKind, type ListHistoryResponse } from '@holdfast/proto/history';
import type { Lease } from '@holdfast/proto/lease';
import { TaskStatus } from '@holdfast/proto/task';
import { beforeAll, describe, expect, it } from 'vitest';
import { SECOND } from '../../src/domain/instant.js';
import { type MovableClock, stopClock } from '../support/clock.js';
import { type Board, hold, startBoard } from './board.js';
import { refused } from './refused.js';

// Nothing happens by itself, and the clock moves by hand: what runs out does so when the test says.
let board: Board;
let clock: MovableClock;
beforeAll(async () => {
  board = await startBoard({ withFeed: false });
  clock = await stopClock(board.service.databaseUrl);
  return () => clock.close();
});

const kindsOf = ({ events }: ListHistoryResponse) => events.map(({ kind }) => EventKind[kind]);
const historyOf = async (taskId: string, ...kinds: EventKind[]) =>
  kindsOf(await board.viewer.history.listHistory({ taskId, kinds }));
const enforce = (enforcement: number) => board.admin.projects.updateProject({ settings: { enforcement } });

describe('a renewal', () => {
  it('answers with the new deadline, and it is later', async () => {
    const { id: taskId } = await board.task();
    const proof = await hold(board.agent, taskId, 60);
    const { lease: first } = await board.agent.leases.getLease({ leaseId: proof.leaseId });
    await clock.advance(30 * SECOND);
    const { lease } = await board.agent.leases.renewLease({ ...proof, progress: 'half' });
    const deadline = (lease: Lease | undefined) => (lease?.expiresAt ? timestampMs(lease.expiresAt) : 0);
    expect(deadline(lease) - deadline(first)).toBe(30_000);
    expect(lease).toMatchObject({ remaining: { seconds: 60n }, fencingToken: 1n, state: LeaseState.ACTIVE });
    const { notes } = await board.viewer.tasks.getTask({ taskId });
    expect(notes[0]).toMatchObject({ text: 'half', author: 'ada', executionId: 'ada-run' });
    expect(await historyOf(taskId)).toEqual(['TASK_CREATED', 'TASK_READY', 'LEASE_ACQUIRED', 'NOTE_ADDED']);
  });

  it('of a lease that ran out is an error that says stop, and revives nothing', async () => {
    const { id: taskId } = await board.task();
    const proof = await hold(board.agent, taskId, 60);
    await clock.advance(60 * SECOND);
    for (const call of [
      () => board.agent.leases.renewLease(proof),
      () => board.agent.leases.renewLease(proof),
    ]) {
      expect(await refused(call())).toMatchObject({
        code: 'FailedPrecondition',
        verdict: 'LOCK_EXPIRED',
        text: expect.stringMatching(/Stop/),
      });
    }
    expect(await historyOf(taskId, EventKind.LEASE_EXPIRED)).toEqual(['LEASE_EXPIRED']);
    const after = await board.agent.leases.renewExecution({ executionId: 'ada-run' });
    expect(after.lost.map((lease) => [lease.taskId, lease.state])).toContainEqual([
      taskId,
      LeaseState.EXPIRED,
    ]);
  });

  it('of a lease that another took over is STALE_LOCK', async () => {
    const { id: taskId } = await board.task();
    const proof = await hold(board.agent, taskId, 60);
    await clock.advance(61 * SECOND);
    await hold(board.rival, taskId, 60);
    expect(await refused(board.agent.leases.renewLease(proof))).toMatchObject({ verdict: 'STALE_LOCK' });
  });

  it('names the same lease while it is held by acquiring again', async () => {
    const { id: taskId } = await board.task();
    const first = await hold(board.agent, taskId, 60);
    await clock.advance(50 * SECOND);
    const again = await hold(board.agent, taskId, 60);
    expect(again).toEqual(first);
    await clock.advance(50 * SECOND);
    expect((await board.viewer.leases.getLease({ taskId })).lease?.state).toBe(LeaseState.ACTIVE);
    expect(await historyOf(taskId, EventKind.LEASE_ACQUIRED)).toHaveLength(1);
  });
});

describe('ending an execution', () => {
  it('frees five hundred leases in one call, and it acquires nothing more', { timeout: 60_000 }, async () => {
    const ids: string[] = [];
    for (let at = 0; at < 500; at += 25) {
      const some = await Promise.all(Array.from({ length: 25 }, () => board.task('many')));
      ids.push(...some.map(({ id }) => id));
    }
    const acquire = (taskId: string) => board.rival.leases.acquireLease({ taskId, executionId: 'big' });
    for (let at = 0; at < 500; at += 25) await Promise.all(ids.slice(at, at + 25).map(acquire));
    const answer = await board.rival.leases.endExecution({ executionId: 'big' });
    expect([answer.released.length, answer.alreadyEnded]).toEqual([500, false]);
    expect(new Set(answer.released.map(({ state }) => state))).toEqual(new Set([LeaseState.RELEASED]));
    expect((await board.viewer.leases.listLeases({ executionId: 'big' })).leases).toEqual([]);
    const again = await board.rival.leases.endExecution({ executionId: 'big' });
    expect([again.released.length, again.alreadyEnded]).toEqual([0, true]);
    expect((await acquire(ids[0] ?? '')).outcome).toMatchObject({ case: 'refusal', value: { reason: 5 } });
    expect(
      (await board.agent.leases.acquireLease({ taskId: ids[0] ?? '', executionId: 'big' })).outcome.case,
    ).toBe('grant');
  });
});

describe('a task that was idle for hours', () => {
  it('is claimed again with a lease that owes nothing to the old one', async () => {
    const { id: taskId } = await board.task();
    const old = await hold(board.agent, taskId, 60);
    await clock.advance(5 * 3600 * SECOND);
    const { outcome } = await board.rival.leases.acquireLease({ taskId, executionId: 'rob-run' });
    expect(outcome).toMatchObject({
      case: 'grant',
      value: {
        renewed: false,
        lease: { fencingToken: 2n, remaining: { seconds: 900n } },
        continuation: {
          attempt: 2,
          previousHolder: { principal: 'ada', executionId: 'ada-run' },
          previousEnd: LeaseState.EXPIRED,
        },
      },
    });
    const lease = outcome.case === 'grant' ? outcome.value.lease : undefined;
    // Its first heartbeat comes after the old lease's would have been late many times over.
    await clock.advance(800 * SECOND);
    await refused(board.agent.leases.renewLease(old));
    const renewed = await board.rival.leases.renewLease({ leaseId: lease?.id ?? '', fencingToken: 2n });
    expect(renewed.lease?.remaining?.seconds).toBe(900n);
    expect(await historyOf(taskId, EventKind.LEASE_EXPIRED)).toHaveLength(1);
  });
});

describe('completing after the lease ran out', () => {
  const late = async (takenOver: boolean) => {
    const { id: taskId } = await board.task();
    const proof = await hold(board.agent, taskId, 60);
    await clock.advance(61 * SECOND);
    if (takenOver) await hold(board.rival, taskId, 600);
    return {
      taskId,
      call: () =>
        board.agent.tasks.completeTask({ taskId, executionId: 'ada-run', proof, result: 'late work' }),
    };
  };

  it.each([
    [false, 'LOCK_EXPIRED'],
    [true, 'STALE_LOCK'],
  ])('is refused in ENFORCE, and the work is kept: taken over %s, %s', async (takenOver, verdict) => {
    await enforce(3);
    const { taskId, call } = await late(takenOver);
    for (let n = 0; n < 3; n++)
      expect(await refused(call())).toMatchObject({ code: 'FailedPrecondition', verdict });
    const { events } = await board.viewer.history.listHistory({ taskId, kinds: [EventKind.WRITE_REJECTED] });
    const kept = events.filter(
      ({ payload }) => payload.case === 'guardedWrite' && payload.value.keptResult === 'late work',
    );
    expect(kept).toHaveLength(1);
    expect(events.reduce((sum, { repeats }) => sum + 1 + repeats, 0)).toBe(3);
    const { task } = await board.viewer.tasks.getTask({ taskId });
    expect(task?.status).toBe(takenOver ? TaskStatus.IN_PROGRESS : TaskStatus.OPEN);
  });

  it.each([false, true])('is done in WARN, with a warning: taken over %s', async (takenOver) => {
    await enforce(2);
    const { taskId, call } = await late(takenOver);
    expect((await call()).task).toMatchObject({ status: TaskStatus.DONE, result: 'late work' });
    expect(await historyOf(taskId, EventKind.WRITE_WARNED)).toEqual(['WRITE_WARNED']);
    const ends = await historyOf(taskId, EventKind.LEASE_EXPIRED, EventKind.LEASE_REVOKED);
    expect(ends).toEqual(takenOver ? ['LEASE_EXPIRED', 'LEASE_REVOKED'] : ['LEASE_EXPIRED']);
  });

  it('again with the proof that completed it answers as before', async () => {
    await enforce(3);
    const { id: taskId } = await board.task();
    const proof = await hold(board.agent, taskId, 60);
    const done = { taskId, executionId: 'ada-run', proof, result: 'once' };
    const first = await board.agent.tasks.completeTask(done);
    const again = await board.agent.tasks.completeTask({ ...done, result: 'twice' });
    expect(again.task).toEqual(first.task);
    expect(await historyOf(taskId, EventKind.TASK_COMPLETED)).toHaveLength(1);
  });
});

describe('when to ask again', () => {
  /** Milliseconds that several callers are told, one after the other, while the clock stands still. */
  const told = async (ask: () => Promise<number | undefined>) => {
    const waits: number[] = [];
    for (let n = 0; n < 10; n++) waits.push((await ask()) ?? expect.fail('not told'));
    return waits;
  };
  const heldTask = async (seconds: number) => {
    const { id: taskId } = await board.task();
    await hold(board.agent, taskId, seconds);
    return taskId;
  };

  it.each([
    [30, 30_000],
    [600, 60_000],
  ])(
    'is at the deadline in %i s, but no later than in a minute, and not the same for all',
    async (ttl, ms) => {
      const taskId = await heldTask(ttl);
      const waits = await told(async () => {
        const { outcome } = await board.rival.leases.acquireLease({ taskId, executionId: 'rob-run' });
        const wait = outcome.case === 'refusal' ? outcome.value.retryAfter : undefined;
        return wait && durationMs(wait);
      });
      for (const wait of waits) expect(wait).toBeGreaterThanOrEqual(ms);
      for (const wait of waits) expect(wait).toBeLessThanOrEqual(ms * 1.2 + 1);
      expect(new Set(waits).size).toBeGreaterThan(1);
    },
  );

  it('is told of a write that another one’s lease stops, too', async () => {
    await enforce(3);
    const taskId = await heldTask(30);
    const waits = await told(async () => {
      const error = await board.rival.tasks
        .dropTask({ taskId, executionId: 'rob-run' })
        .catch((refusal: unknown) => refusal);
      return error instanceof LockedByOther ? error.retryAfterMs : undefined;
    });
    for (const wait of waits) expect(wait).toBeGreaterThanOrEqual(30_000);
    expect(new Set(waits).size).toBeGreaterThan(1);
  });
});

describe('a release', () => {
  it('of a lease that is over says how it ended, each time', async () => {
    const { id: taskId } = await board.task();
    const proof = await hold(board.agent, taskId, 60);
    const first = await board.agent.leases.releaseLease(proof);
    const again = await board.agent.leases.releaseLease(proof);
    expect([first.alreadyEnded, again.alreadyEnded]).toEqual([false, true]);
    expect([first.lease?.state, again.lease?.state]).toEqual([LeaseState.RELEASED, LeaseState.RELEASED]);

    const expired = await hold(board.agent, taskId, 60);
    await clock.advance(60 * SECOND);
    expect(await board.agent.leases.releaseLease(expired)).toMatchObject({
      alreadyEnded: true,
      lease: { state: LeaseState.EXPIRED },
    });

    const revoked = await hold(board.agent, taskId, 60);
    await board.admin.leases.forceReleaseLease({ taskId, reason: 'stuck' });
    expect(await board.agent.leases.releaseLease(revoked)).toMatchObject({
      alreadyEnded: true,
      lease: { state: LeaseState.REVOKED, endedBy: 'alma', endReason: 'stuck' },
    });
    expect(await historyOf(taskId, EventKind.LEASE_RELEASED)).toHaveLength(1);
  });

  it('of what was never held is an error', async () => {
    expect(
      await refused(board.agent.leases.releaseLease({ leaseId: 'never', fencingToken: 1n })),
    ).toMatchObject({
      code: 'NotFound',
    });
    const { id: taskId } = await board.task();
    expect(await refused(board.admin.leases.forceReleaseLease({ taskId, reason: 'x' }))).toMatchObject({
      code: 'FailedPrecondition',
    });
  });
});

describe('a check', () => {
  it('gives the guard’s verdict and writes nothing', async () => {
    const { id: taskId } = await board.task();
    const check = (who: typeof board.agent, proof?: { leaseId: string; fencingToken: bigint }) =>
      who.leases.checkLease({ taskId, executionId: who.executionId, ...(proof && { proof }) });
    expect(await check(board.agent)).toMatchObject({ allowed: false, live: false, rejection: { code: 1 } });
    const proof = await hold(board.agent, taskId, 60);
    expect(await check(board.agent, proof)).toMatchObject({
      allowed: true,
      live: true,
      remaining: { seconds: 60n },
    });
    expect(await check(board.rival)).toMatchObject({ allowed: false, rejection: { code: 3 } });
    await clock.advance(60 * SECOND);
    expect(await check(board.agent, proof)).toMatchObject({
      allowed: false,
      live: false,
      rejection: { code: 2 },
    });
    expect(await historyOf(taskId)).toEqual(['TASK_CREATED', 'TASK_READY', 'LEASE_ACQUIRED']);
    for (const bad of [
      { leaseId: '', fencingToken: 1n },
      { leaseId: proof.leaseId, fencingToken: 0n },
      { leaseId: proof.leaseId, fencingToken: -1n },
      { leaseId: proof.leaseId, fencingToken: 2n },
    ]) {
      expect(await refused(check(board.agent, bad))).toMatchObject({
        code: 'InvalidArgument',
        field: expect.stringMatching(/^proof\./),
      });
    }
  });
});
