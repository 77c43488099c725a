import { expect, test } from 'vitest';
import { MINUTE } from '../../src/domain/instant.js';
import { currentLeaseOf, type Lease, leaseEndAt } from '../../src/domain/lease.js';
import { lease, NOW, state } from './snapshots.js';

const held = currentLeaseOf(state({ lease: lease() })) as Lease;
const DEADLINE = NOW + MINUTE;

test.each([
  ['before its deadline', held, DEADLINE - 1, 'ACTIVE'],
  ['at its deadline', held, DEADLINE, 'EXPIRED'],
  ['behind it, recorded or not', held, DEADLINE + 1, 'EXPIRED'],
  ['given back, before its deadline', { ...held, end: 'RELEASED' } as const, DEADLINE - 1, 'RELEASED'],
  ['given back, long ago', { ...held, end: 'COMPLETED' } as const, DEADLINE + MINUTE, 'COMPLETED'],
])('what a lease is %s', (_, one, now, expected) => {
  expect(leaseEndAt(one, now)).toBe(expected);
});
