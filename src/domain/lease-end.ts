import { rejected } from './advice.js';
import { type Change, type NoteDraft, whileLive } from './change.js';
import { noteEvent } from './content.js';
import type { Decision, Snapshot } from './decision.js';
import type { EventDraft, LeaseEndCause, ReadyCause } from './event.js';
import type { Micros } from './instant.js';
import type { Caller } from './principal.js';
import { noSuchLease, type Problem } from './problem.js';
import type { CurrentLease, LeaseEnd, TaskState } from './task-state.js';
import { applicableTtl } from './ttl.js';
import { actorOf } from './write.js';

/** What is known of a lease that a caller names by its id: its own row, apart from the task's. */
export interface NamedLease {
  readonly id: string;
  readonly taskId: string;
  readonly fencingToken: bigint;
  readonly principal: string;
  /** How it ended, if it has. */
  readonly end: LeaseEnd | undefined;
}

/** TASK_READY, when nothing keeps the task from being leased once its lease is gone. */
export function readyAgain(state: Pick<TaskState, 'unmet'>, cause: ReadyCause): EventDraft[] {
  return state.unmet === 0 ? [{ kind: 'TASK_READY', payload: { cause } }] : [];
}

/** The event that tells a lease's end, from whoever ended it. */
export function endedEvent(
  kind: 'LEASE_RELEASED' | 'LEASE_REVOKED',
  lease: CurrentLease,
  caller: Caller,
  cause: LeaseEndCause,
  reason?: string,
): EventDraft {
  return {
    kind,
    actor: actorOf(caller),
    payload: { holder: lease.holder, cause, expiresAt: lease.expiresAt, ...(reason && { reason }) },
  };
}

/**
 * Records that a lapsed lease expired. It holds only from the deadline on, and only while the deadline
 * still is the one that was read: a renewal in between wins.
 */
export function decideExpiry(
  { state, settings }: Snapshot,
  lease: CurrentLease,
  lastNote: string | undefined,
): Change {
  const expiries = state.expiriesInARow + 1;
  const quarantined = settings.maxExpiries > 0 && expiries >= settings.maxExpiries;
  const expired: EventDraft = {
    kind: 'LEASE_EXPIRED',
    payload: {
      holder: lease.holder,
      cause: 'EXPIRED',
      expiresAt: lease.expiresAt,
      expiriesInARow: expiries,
      ...(lastNote !== undefined && { lastNote }),
    },
  };
  return {
    taskId: state.taskId,
    expect: { leaseVersion: state.leaseVersion, depsVersion: state.depsVersion, expiresAt: lease.expiresAt },
    notBefore: lease.expiresAt,
    status: quarantined ? 'QUARANTINED' : 'OPEN',
    expiriesInARow: expiries,
    lease: { op: 'end', end: 'EXPIRED' },
    events: quarantined
      ? [expired, { kind: 'TASK_QUARANTINED', payload: { expiries } }]
      : [expired, ...readyAgain(state, 'EXPIRED')],
  };
}

/** Gives a live lease back: by its holder, or because its execution was ended. */
export function releasing(
  state: TaskState,
  lease: CurrentLease,
  caller: Caller,
  cause: 'RELEASED' | 'EXECUTION_ENDED',
): Change {
  return {
    taskId: state.taskId,
    expect: { leaseVersion: state.leaseVersion, depsVersion: state.depsVersion },
    ...whileLive(state),
    status: 'OPEN',
    expiriesInARow: 0,
    lease: { op: 'end', end: 'RELEASED', by: caller.principal },
    events: [endedEvent('LEASE_RELEASED', lease, caller, cause), ...readyAgain(state, 'RELEASED')],
  };
}

/** Whether a caller may speak for the lease it names. Another's lease is as unknown as one that never was. */
function mismatch(named: NamedLease | undefined, caller: Caller, fencingToken: bigint): Problem | undefined {
  if (named?.principal !== caller.principal) return noSuchLease();
  return named.fencingToken === fencingToken
    ? undefined
    : {
        kind: 'INVALID_ARGUMENT',
        field: 'fencing_token',
        description: 'is not the token of this lease: send the one from the grant',
      };
}

/** Renewals and releases name no execution; the history still tells which one it was. */
const asHolder = (caller: Caller, { holder }: CurrentLease): Caller => ({
  ...caller,
  executionId: holder.executionId,
});

/** Renew: only a live lease, in every enforcement mode; an expired one is never revived. */
export function decideRenew(
  snapshot: Snapshot,
  named: NamedLease | undefined,
  caller: Caller,
  { fencingToken, ttl, note }: { fencingToken: bigint; ttl: Micros | undefined; note: NoteDraft | undefined },
): Decision<'RENEWED'> {
  const problem = mismatch(named, caller, fencingToken);
  if (problem) return { problem };
  const { state, now } = snapshot;
  const lease = state.lease;
  if (!lease || lease.id !== named?.id) {
    const stale = state.fencingToken > fencingToken || named?.end === 'REVOKED';
    return { problem: rejected(stale ? 'STALE_LOCK' : 'LOCK_EXPIRED', state, now) };
  }
  const renewal = renewing(snapshot, lease, ttl);
  return {
    answer: 'RENEWED',
    // A renewal is no event; a note that rides on it is.
    change: note ? { ...renewal, note, events: [noteEvent(note, asHolder(caller, lease))] } : renewal,
  };
}

/** Renews one of an execution's live leases; for the execution as a whole, each as long as it asked for. */
export function renewing(
  { state, settings }: Snapshot,
  lease: CurrentLease,
  ttl: Micros | undefined,
): Change {
  return {
    taskId: state.taskId,
    expect: { leaseVersion: state.leaseVersion },
    ...whileLive(state),
    lease: { op: 'renew', ttl: applicableTtl(ttl, lease.ttl, settings), maxAge: settings.maxAge },
    events: [],
  };
}

/** Release: what is over already stays as it ended, and the answer says how. */
export function decideRelease(
  { state }: Snapshot,
  named: NamedLease | undefined,
  caller: Caller,
  { fencingToken, note }: { fencingToken: bigint; note: NoteDraft | undefined },
): Decision<'RELEASED' | 'ALREADY_ENDED'> {
  const problem = mismatch(named, caller, fencingToken);
  if (problem) return { problem };
  const lease = state.lease;
  if (!lease || lease.id !== named?.id) return { answer: 'ALREADY_ENDED' };
  const holder = asHolder(caller, lease);
  const release = releasing(state, lease, holder, 'RELEASED');
  return {
    answer: 'RELEASED',
    change: note ? { ...release, note, events: [noteEvent(note, holder), ...release.events] } : release,
  };
}

/** Force-release: an admin takes a live lease away, with a reason. */
export function decideForceRelease({ state }: Snapshot, caller: Caller, reason: string): Decision<'REVOKED'> {
  const lease = state.lease;
  if (!lease) {
    return { problem: { kind: 'FAILED_PRECONDITION', message: 'Nobody holds a live lease on this task.' } };
  }
  return {
    answer: 'REVOKED',
    change: {
      taskId: state.taskId,
      expect: { leaseVersion: state.leaseVersion, depsVersion: state.depsVersion },
      ...whileLive(state),
      status: 'OPEN',
      lease: { op: 'end', end: 'REVOKED', by: caller.principal, reason },
      events: [endedEvent('LEASE_REVOKED', lease, caller, 'FORCED', reason), ...readyAgain(state, 'REVOKED')],
    },
  };
}
