import type { Actor, EventDraft } from './event.js';
import type { Micros } from './instant.js';
import type { Holder } from './principal.js';
import type { LeaseEnd, TaskState, TaskStatus } from './task-state.js';

/** What happens to the lease on a task. */
export type LeaseChange =
  | {
      readonly op: 'grant';
      readonly leaseId: string;
      readonly holder: Holder;
      readonly ttl: Micros;
      /** Counts the age from the row's `agedFrom` rather than from the grant. */
      readonly inheritAge: boolean;
      /** 0: no cap. */
      readonly maxAge: Micros;
    }
  | { readonly op: 'renew'; readonly ttl: Micros; readonly maxAge: Micros }
  | { readonly op: 'end'; readonly end: LeaseEnd; readonly by?: string; readonly reason?: string };

export interface ContentChange {
  readonly title?: string;
  readonly body?: string;
  readonly priority?: number;
  readonly labels?: readonly string[];
  readonly assignee?: string;
}

/** Closing stamps result and closer, reopening wipes them. */
type Closing = { readonly result?: string; readonly by: string } | 'reopened';

export interface NoteDraft {
  readonly id: string;
  readonly author: string;
  readonly executionId: string | undefined;
  readonly text: string;
}

/**
 * What a decision wants done to one task. It is done only if the row still is as the decision saw it:
 * same versions, and the clock, read again after the row was locked, within the window.
 */
export interface Change {
  readonly taskId: string;
  readonly expect: {
    readonly leaseVersion: bigint;
    readonly depsVersion?: bigint;
    readonly contentVersion?: bigint;
    /** The deadline must still be this one: a renewal moves it without moving a version. */
    readonly expiresAt?: Micros;
  };
  /** The decision holds while notBefore <= clock < before. */
  readonly notBefore?: Micros;
  readonly before?: Micros;
  /** The execution must not have been ended: an acquire that arrives late is refused. */
  readonly requiresExecution?: Holder;
  readonly status?: TaskStatus;
  readonly expiriesInARow?: number;
  readonly lease?: LeaseChange;
  readonly content?: ContentChange;
  readonly closing?: Closing;
  readonly note?: NoteDraft;
  /** The row goes, and its edges with it; its fencing counter stays behind under its external key. */
  readonly remove?: { readonly by: Actor };
  /** How its counts of edges change. */
  readonly deps?: { readonly unmet?: number; readonly blockers?: number; readonly dependents?: number };
  /** Edges from this task that come or go. */
  readonly edges?: { readonly add?: readonly Edge[]; readonly remove?: readonly string[] };
  /** No edge of the project was added since the check for cycles; and one is now. */
  readonly graphVersion?: bigint;
  /** Others wait for this task, and what happens to it may block or unblock them. */
  readonly propagates?: boolean;
  readonly events: readonly EventDraft[];
}

/** Waits for `blockerId`. */
export interface Edge {
  readonly blockerId: string;
  /** A DROPPED blocker satisfies as well. */
  readonly acceptDropped: boolean;
}

/** The window in which what was decided about a live lease holds, for a Change. */
export function whileLive(state: TaskState): Pick<Change, 'before'> {
  return state.lease ? { before: state.lease.expiresAt } : {};
}
