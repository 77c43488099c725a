import type { LeaseChange } from './change.js';
import type { Micros } from './instant.js';
import type { Holder } from './principal.js';
import type { LeaseEnd, TaskState } from './task-state.js';

/** A lease as answers tell it: live, or ended and how. */
export interface Lease {
  readonly id: string;
  readonly taskId: string;
  readonly fencingToken: bigint;
  readonly holder: Holder;
  readonly attempt: number;
  readonly grantedAt: Micros;
  /** For an ended lease, what its deadline was. */
  readonly expiresAt: Micros;
  readonly ttl: Micros;
  /** How it ended, if that is recorded. */
  readonly end: LeaseEnd | undefined;
  readonly endedAt: Micros | undefined;
  readonly endedBy: string | undefined;
  readonly endReason: string | undefined;
}

/** What a lease is at an instant: one past its deadline has expired, recorded or not. */
export function leaseEndAt(lease: Lease, now: Micros): LeaseEnd | 'ACTIVE' {
  return lease.end ?? (now < lease.expiresAt ? 'ACTIVE' : 'EXPIRED');
}

/** The lease that a task's row carries. */
export function currentLeaseOf(state: TaskState): Lease | undefined {
  return (
    state.lease && {
      ...state.lease,
      taskId: state.taskId,
      fencingToken: state.fencingToken,
      attempt: state.attempt,
      end: undefined,
      endedAt: undefined,
      endedBy: undefined,
      endReason: undefined,
    }
  );
}

/** A lease that a change has just ended. */
export function endedLeaseOf(
  before: TaskState,
  end: Extract<LeaseChange, { op: 'end' }>,
  at: Micros,
): Lease | undefined {
  const lease = currentLeaseOf(before);
  return lease && { ...lease, end: end.end, endedAt: at, endedBy: end.by, endReason: end.reason };
}
