import type { WriteCode } from './event.js';
import type { Micros } from './instant.js';
import { type Caller, isHolder } from './principal.js';
import { isClosed, liveLease, statusAt, type TaskState } from './task-state.js';

/** What a writer sends to show that it holds the lease, as it came over the wire. */
export interface Proof {
  readonly leaseId: string;
  readonly fencingToken: bigint;
}

export type Verdict =
  | { readonly kind: 'ALLOWED' }
  | { readonly kind: 'INVALID'; readonly field: string; readonly description: string }
  | { readonly kind: 'BAD'; readonly code: WriteCode };

export interface GuardInput {
  readonly state: TaskState;
  readonly now: Micros;
  readonly caller: Caller;
  readonly proof: Proof | undefined;
  /** The task of the lease that the proof names, when there is such a lease in the project. */
  readonly proofLeaseTaskId: string | undefined;
}

const ALLOWED: Verdict = { kind: 'ALLOWED' };
const bad = (code: WriteCode): Verdict => ({ kind: 'BAD', code });
const invalid = (field: string, description: string): Verdict => ({ kind: 'INVALID', field, description });

/**
 * The write guard: may this caller write this task now? The rows are those of the contract's table
 * "The write guard", in its order; the first that matches decides.
 */
export function judge({ state, now, caller, proof, proofLeaseTaskId }: GuardInput): Verdict {
  const live = liveLease(state, now);

  if (proof) {
    // 1: not a proof for this task at all
    if (proof.leaseId === '') return invalid('proof.lease_id', 'is missing: send the id from the grant');
    if (proof.fencingToken < 1n) {
      return invalid('proof.fencing_token', 'is missing or below 1: send the token from the grant');
    }
    if (proofLeaseTaskId !== undefined && proofLeaseTaskId !== state.taskId) {
      return invalid('proof.lease_id', 'is the id of a lease on another task');
    }
    if (proof.fencingToken > state.fencingToken) {
      return invalid('proof.fencing_token', `is above the task's current token ${state.fencingToken}`);
    }
    // 2: somebody was granted the task since, or the lease was taken away
    if (proof.fencingToken < state.fencingToken) return bad('STALE_LOCK');
    if (!live && state.previous?.fencingToken === proof.fencingToken && state.previous.end === 'REVOKED') {
      return bad('STALE_LOCK');
    }
    // 3: the newest lease, but over
    if (!live) return bad('LOCK_EXPIRED');
    // 4: the live lease, but not the caller's
    if (live.id !== proof.leaseId || !isHolder(live.holder, caller)) return bad('LOCKED_BY_OTHER');
    // 5
    return ALLOWED;
  }

  // 6
  if (live && !isHolder(live.holder, caller)) return bad('LOCKED_BY_OTHER');
  // 7
  if (caller.kind === 'PERSON') return ALLOWED;
  // 8: re-planning a task that nobody can lease needs no lease
  if (!live && (isClosed(statusAt(state, now)) || state.unmet > 0)) return ALLOWED;
  // 9
  return bad('LOCK_REQUIRED');
}
