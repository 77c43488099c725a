import { create } from '@bufbuild/protobuf';
import { durationFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, createRouterTransport } from '@connectrpc/connect';
import { createHoldfast, keepRenewed, LeaseLost, WriteRejected } from '@holdfast/client';
import { WriteCode, WriteRejectionSchema } from '@holdfast/proto/guard';
import { LeaseSchema, LeaseService, type RenewLeaseRequest } from '@holdfast/proto/lease';
import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock, settle } from './manual-clock.js';

const DAY_MS = 86_400_000;

let clock: ManualClock;
let renewals: { atMs: number; request: RenewLeaseRequest }[];
let answer: () => Promise<number> | number;

beforeEach(() => {
  clock = new ManualClock();
  renewals = [];
});

function lease(ttlMs: number, remainingMs = ttlMs) {
  return create(LeaseSchema, {
    id: 'lease-1',
    taskId: 'task-1',
    fencingToken: 7n,
    ttl: durationFromMs(ttlMs),
    remaining: durationFromMs(remainingMs),
  });
}

/** Keeps a lease of `ttlMs`; the server answers each renewal with what `answer` says remains. */
function keep(ttlMs: number) {
  answer = () => ttlMs;
  const transport = createRouterTransport(({ rpc }) => {
    rpc(LeaseService.method.renewLease, async (request) => {
      renewals.push({ atMs: clock.now().monotonicMs - startMs, request });
      return { lease: lease(ttlMs, await answer()) };
    });
  });
  const holdfast = createHoldfast({ url: 'http://localhost', token: 'hf_test', transport });
  const startMs = clock.now().monotonicMs;
  return keepRenewed(holdfast, lease(ttlMs), { asked: clock.now(), clock, random: () => 0.5 });
}

function unavailable(): never {
  throw new ConnectError('the network is away', Code.Unavailable);
}

function lostReason(signal: AbortSignal): LeaseLost {
  expect(signal.reason).toBeInstanceOf(LeaseLost);
  return signal.reason;
}

describe('keepRenewed', () => {
  it('renews at each third of the TTL with the proof of the lease', async () => {
    const kept = keep(90_000);
    await clock.advance(95_000);
    kept.stop();
    expect(renewals.map(({ atMs }) => atMs)).toEqual([30_000, 60_000, 90_000]);
    expect(renewals[0]?.request).toMatchObject({ leaseId: 'lease-1', fencingToken: 7n });
    expect(kept.signal.aborted).toBe(false);
  });

  it('holds a failed renewal for unknown, and goes on when a later one succeeds', async () => {
    const kept = keep(90_000);
    answer = unavailable;
    await clock.advance(60_000);
    expect(renewals.length).toBeGreaterThan(3);
    expect(kept.signal.aborted).toBe(false);
    answer = () => 90_000;
    await clock.advance(200_000);
    expect(kept.signal.aborted).toBe(false);
    kept.stop();
  });

  it('gives the lease up as unconfirmed at the safe deadline, not before and not after', async () => {
    const kept = keep(90_000);
    answer = unavailable;
    await clock.advance(80_999);
    expect(kept.signal.aborted).toBe(false);
    await clock.advance(1);
    const reason = lostReason(kept.signal);
    expect(reason.kind).toBe('unconfirmed');
    expect(reason.cause).toMatchObject({ code: Code.Unavailable });
  });

  it('counts from before a renewal was sent, however long its answer took', async () => {
    const kept = keep(90_000);
    let arrive = () => {};
    answer = () => new Promise((resolve) => (arrive = () => resolve(90_000)));
    await clock.advance(40_000);
    arrive();
    await settle();
    answer = unavailable;
    await clock.advance(70_999);
    expect(kept.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(kept.signal.aborted).toBe(true);
  });

  it('does not wait for a renewal that never comes back', async () => {
    const kept = keep(90_000);
    answer = () => new Promise(() => {});
    await clock.advance(81_000);
    expect(lostReason(kept.signal).kind).toBe('unconfirmed');
  });

  it.each([
    { name: 'a rejection', error: rejection },
    { name: 'NOT_FOUND', error: () => new ConnectError('no such lease', Code.NotFound) },
    { name: 'FAILED_PRECONDITION', error: () => new ConnectError('ended', Code.FailedPrecondition) },
  ])('is lost at once when the server answers with $name', async ({ error }) => {
    const kept = keep(90_000);
    answer = () => {
      throw error();
    };
    await clock.advance(30_000);
    expect(lostReason(kept.signal).kind).toBe('lost');
    expect(renewals).toHaveLength(1);
    expect(clock.timers).toBe(0);
  });

  it('stops within a second of waking when the machine slept past the deadline', async () => {
    const kept = keep(90_000);
    clock.jump(85_000);
    await clock.advance(1_000);
    expect(lostReason(kept.signal).kind).toBe('unconfirmed');
  });

  it('says so before a write when a blocked event loop kept every timer from firing', () => {
    const kept = keep(90_000);
    clock.block(81_000);
    expect(kept.signal.aborted).toBe(false);
    expect(() => kept.throwIfUnsafe()).toThrow(LeaseLost);
    expect(kept.signal.aborted).toBe(true);
  });

  it('keeps a lease of thirty days without an early timer', async () => {
    const kept = keep(30 * DAY_MS);
    await clock.advance(20_000);
    expect(renewals).toHaveLength(0);
    expect(kept.signal.aborted).toBe(false);
    expect(clock.longestDelayMs).toBeLessThanOrEqual(2 ** 31 - 1);
    kept.stop();
  });

  it('ends at the age cap instead of renewing ever faster', async () => {
    const kept = keep(90_000);
    const endMs = clock.now().monotonicMs + 100_000;
    answer = () => endMs - clock.now().monotonicMs;
    await clock.advance(91_000);
    expect(lostReason(kept.signal).kind).toBe('unconfirmed');
    expect(renewals.length).toBeLessThan(20);
  });

  it('leaves no timer after the end', () => {
    const kept = keep(90_000);
    expect(clock.timers).toBe(1);
    kept.stop();
    expect(clock.timers).toBe(0);
  });

  it('leaves no timer after the end, also with a renewal under way', async () => {
    const kept = keep(90_000);
    answer = () => new Promise(() => {});
    await clock.advance(30_000);
    kept.stop();
    await settle();
    expect(clock.timers).toBe(0);
    expect(kept.signal.aborted).toBe(false);
  });
});

function rejection(): ConnectError {
  const value = {
    code: WriteCode.STALE_LOCK,
    taskId: 'task-1',
    fencingToken: 8n,
    advice: 'Acquire it anew.',
  };
  const error = new ConnectError('stale', Code.FailedPrecondition, undefined, [
    { desc: WriteRejectionSchema, value },
  ]);
  expect(error).not.toBeInstanceOf(WriteRejected);
  return error;
}
