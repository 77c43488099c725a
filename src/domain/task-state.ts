import type { Micros } from './instant.js';
import type { Holder } from './principal.js';

export type TaskStatus = 'OPEN' | 'IN_PROGRESS' | 'DONE' | 'DROPPED' | 'QUARANTINED';
export type LeaseEnd = 'RELEASED' | 'COMPLETED' | 'EXPIRED' | 'REVOKED';

/** The lease that a task's row carries: live until its deadline, lapsed from then until that is recorded. */
export interface CurrentLease {
  readonly id: string;
  readonly holder: Holder;
  readonly grantedAt: Micros;
  readonly expiresAt: Micros;
  readonly ttl: Micros;
}

/** The lease before the current one, or the last one when there is none. */
export interface EndedLease {
  readonly id: string;
  readonly holder: Holder;
  readonly fencingToken: bigint;
  readonly end: LeaseEnd;
  readonly endedAt: Micros;
}

/** All that decisions on a task depend on: one narrow row, versioned. */
export interface TaskState {
  readonly taskId: string;
  /** IN_PROGRESS exactly while `lease` is there. */
  readonly status: TaskStatus;
  /** Unfinished dependencies and open sub-tasks. Blocked when above 0. */
  readonly unmet: number;
  /** How many tasks it waits for, and how many wait for it, finished or not. */
  readonly blockers: number;
  readonly dependents: number;
  /** Moves with status and lease, but not with a renewal. */
  readonly leaseVersion: bigint;
  /** Moves with edges and the unmet count. */
  readonly depsVersion: bigint;
  /** Moves with the content; the etag. */
  readonly contentVersion: bigint;
  /** The token of the newest grant; 0 before the first. */
  readonly fencingToken: bigint;
  readonly lease: CurrentLease | undefined;
  readonly previous: EndedLease | undefined;
  /** From when the age cap counts: the first grant of an unbroken row of grants to one execution. */
  readonly agedFrom: Micros | undefined;
  readonly attempt: number;
  readonly expiriesInARow: number;
  readonly noteCount: number;
}

/** The one predicate of liveness: a lease is over when the clock is at or past its deadline. */
export function isLive(lease: CurrentLease, now: Micros): boolean {
  return now < lease.expiresAt;
}

export function liveLease(state: TaskState, now: Micros): CurrentLease | undefined {
  return state.lease && isLive(state.lease, now) ? state.lease : undefined;
}

/** A lease whose deadline has passed without anybody having recorded it yet. */
export function lapsedLease(state: TaskState, now: Micros): CurrentLease | undefined {
  return state.lease && !isLive(state.lease, now) ? state.lease : undefined;
}

/** The status that an answer tells: a lapsed lease no longer keeps a task in progress. */
export function statusAt(state: TaskState, now: Micros): TaskStatus {
  return lapsedLease(state, now) ? 'OPEN' : state.status;
}

export function isClosed(status: TaskStatus): boolean {
  return status === 'DONE' || status === 'DROPPED' || status === 'QUARANTINED';
}
