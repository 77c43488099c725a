import { create } from '@bufbuild/protobuf';
import { durationFromMs } from '@bufbuild/protobuf/wkt';
import { LeaseSchema } from '@holdfast/proto/lease';
import { describe, expect, it } from 'vitest';
import { msUntil, renewalDelayMs, safetyMarginMs, safeUntil } from '../../clients/typescript/src/deadline.js';

const asked = { monotonicMs: 100, wallMs: 5_000_000 };

function lease(ttlMs: number, remainingMs = ttlMs) {
  return create(LeaseSchema, { ttl: durationFromMs(ttlMs), remaining: durationFromMs(remainingMs) });
}

describe('safetyMarginMs', () => {
  it.each([
    { ttlMs: 1_000, marginMs: 1_000 / 3 },
    { ttlMs: 3_000, marginMs: 1_000 },
    { ttlMs: 6_000, marginMs: 2_000 },
    { ttlMs: 20_000, marginMs: 2_000 },
    { ttlMs: 900_000, marginMs: 90_000 },
  ])('is $marginMs ms of $ttlMs ms', ({ ttlMs, marginMs }) => {
    expect(safetyMarginMs(ttlMs)).toBeCloseTo(marginMs);
  });
});

describe('safeUntil', () => {
  it('counts from before the request was sent, on both clocks', () => {
    expect(safeUntil(lease(900_000), asked)).toEqual({ monotonicMs: 810_100, wallMs: 5_810_000 });
  });

  it('counts what is left of the lease, not its TTL', () => {
    expect(safeUntil(lease(900_000, 100_000), asked).monotonicMs).toBe(10_100);
  });
});

describe('msUntil', () => {
  it.each([
    { name: 'the monotonic clock when it is ahead', now: { monotonicMs: 900, wallMs: 5_000_000 }, left: 100 },
    { name: 'the wall clock when it is ahead', now: { monotonicMs: 100, wallMs: 5_000_950 }, left: 50 },
    {
      name: 'late when only the wall clock is',
      now: { monotonicMs: 100, wallMs: 6_000_000 },
      left: -999_000,
    },
  ])('goes by $name', ({ now, left }) => {
    expect(msUntil({ monotonicMs: 1_000, wallMs: 5_001_000 }, now)).toBe(left);
  });
});

describe('renewalDelayMs', () => {
  it.each([
    { random: 0, delayMs: 270_000 },
    { random: 0.5, delayMs: 300_000 },
    { random: 1, delayMs: 330_000 },
  ])('is a third of the TTL, give or take a tenth ($random)', ({ random, delayMs }) => {
    expect(renewalDelayMs(lease(900_000), () => random)).toBeCloseTo(delayMs);
  });

  it('is a third of what is left when the age cap cut the lease', () => {
    expect(renewalDelayMs(lease(900_000, 300_000), () => 0.5)).toBeCloseTo(100_000);
  });
});
