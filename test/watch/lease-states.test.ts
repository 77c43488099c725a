import { describe, expect, it } from 'vitest';
import { LeaseStates } from '../../src/feed/lease-states.js';
import type { LogEntry, WatchedLease } from '../../src/store/watch-log.js';

const renewed = (taskId: string, fencingToken: bigint) => ({
  now: 1,
  leases: [{ lease: { taskId, fencingToken }, planId: undefined } as WatchedLease],
});

const ended = (kind: string, taskId: string, fencingToken: bigint) =>
  [{ event: { kind, taskId, fencingToken } }] as unknown as LogEntry[];

describe('renewals', () => {
  it.each(['LEASE_RELEASED', 'LEASE_EXPIRED', 'LEASE_REVOKED'])('are not kept behind a %s', (kind) => {
    const states = new LeaseStates();
    states.ended(ended(kind, 't', 1n));
    expect(states.push(renewed('t', 1n))).toBe(false);
    expect(states.after(0)).toBeUndefined();
    // Of the next lease on the task, of another task's, they are.
    expect(states.push(renewed('t', 2n))).toBe(true);
    expect(states.push(renewed('u', 1n))).toBe(true);
  });

  it('are kept whatever else is told of the lease', () => {
    const states = new LeaseStates();
    states.ended(ended('LEASE_ACQUIRED', 't', 1n));
    expect(states.push(renewed('t', 1n))).toBe(true);
  });

  it('are told one after another to who has not seen them, the newest ones to who is far behind', () => {
    const states = new LeaseStates();
    const seenBy = (seen: number) => states.after(seen)?.leases[0]?.lease.fencingToken;
    for (let token = 1n; token <= 3n; token++) states.push(renewed('t', token));
    expect([seenBy(0), seenBy(1), seenBy(2), seenBy(3)]).toEqual([1n, 2n, 3n, undefined]);
    expect(states.after(1)?.seen).toBe(2);
    for (let token = 4n; token <= 100n; token++) states.push(renewed('t', token));
    expect(seenBy(0)).toBeGreaterThan(80n);
    expect(seenBy(99)).toBe(100n);
    expect(seenBy(states.count)).toBeUndefined();
  });
});
