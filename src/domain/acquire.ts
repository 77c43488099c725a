import type { Decision, Snapshot } from './decision.js';
import type { EventDraft } from './event.js';
import type { Micros } from './instant.js';
import { renewing } from './lease-end.js';
import type { UnmetDependency } from './neighbours.js';
import { type Caller, type Holder, isHolder } from './principal.js';
import { type CurrentLease, isClosed, type TaskState, type TaskStatus } from './task-state.js';
import { ageLimit, applicableTtl } from './ttl.js';
import { actorOf } from './write.js';

export interface AcquireRequest {
  readonly executionId: string;
  /** Absent or 0: the project's default. */
  readonly ttl: Micros | undefined;
  /** The id of the lease if one is granted: random, made by the caller of this function. */
  readonly leaseId: string;
  /** What the task waits for, for the answer. */
  readonly unmet?: readonly UnmetDependency[];
}

export type AcquireAnswer =
  | { readonly kind: 'GRANTED'; readonly renewed: boolean }
  | { readonly kind: 'HELD'; readonly lease: CurrentLease; readonly remaining: Micros }
  | { readonly kind: 'TASK_CLOSED'; readonly status: TaskStatus }
  | { readonly kind: 'DEPENDENCIES_UNMET'; readonly unmet: readonly UnmetDependency[] }
  | { readonly kind: 'EXECUTION_ENDED' }
  | { readonly kind: 'MAX_AGE_REACHED' };

/**
 * Steps 3 to 7 of the contract's "Acquire". Step 1 (no such task) and step 2 (settle a lapsed lease) have
 * been taken by whoever made the snapshot, so a lease in it is a live one.
 */
export function decideAcquire(
  snapshot: Snapshot,
  caller: Caller,
  executionEnded: boolean,
  request: AcquireRequest,
): Decision<AcquireAnswer> {
  const { state, now, settings } = snapshot;
  const holder: Holder = { principal: caller.principal, executionId: request.executionId };
  const refuse = (answer: Exclude<AcquireAnswer, { kind: 'GRANTED' }>): Decision<AcquireAnswer> => ({
    answer,
    record: refusedEvent(state, caller, answer),
  });

  if (executionEnded) return refuse({ kind: 'EXECUTION_ENDED' });

  if (isClosed(state.status)) return refuse({ kind: 'TASK_CLOSED', status: state.status });

  if (state.lease) {
    const { lease } = state;
    if (!isHolder(lease.holder, caller)) {
      return refuse({ kind: 'HELD', lease, remaining: lease.expiresAt - now });
    }
    return {
      answer: { kind: 'GRANTED', renewed: true },
      ref: lease.id,
      change: renewing(snapshot, lease, request.ttl),
    };
  }

  if (state.unmet > 0) return refuse({ kind: 'DEPENDENCIES_UNMET', unmet: request.unmet ?? [] });

  const inheritAge = inheritsAge(state, holder);
  const limit = inheritAge && state.agedFrom !== undefined ? ageLimit(state.agedFrom, settings) : undefined;
  if (limit !== undefined && now >= limit) return refuse({ kind: 'MAX_AGE_REACHED' });

  const ttl = applicableTtl(request.ttl, settings.defaultTtl, settings);
  return {
    answer: { kind: 'GRANTED', renewed: false },
    ref: request.leaseId,
    change: {
      taskId: state.taskId,
      expect: { leaseVersion: state.leaseVersion, depsVersion: state.depsVersion },
      ...(limit !== undefined && { before: limit }),
      requiresExecution: holder,
      status: 'IN_PROGRESS',
      lease: { op: 'grant', leaseId: request.leaseId, holder, ttl, inheritAge, maxAge: settings.maxAge },
      events: [grantedEvent(state, caller, holder, ttl)],
    },
  };
}

/** A regrant to the execution that held the task last goes on counting its age. */
function inheritsAge(state: TaskState, holder: Holder): boolean {
  const last = state.previous?.holder;
  return last?.principal === holder.principal && last.executionId === holder.executionId;
}

function grantedEvent(state: TaskState, caller: Caller, holder: Holder, ttl: Micros): EventDraft {
  const attempt = state.attempt + 1;
  const { previous } = state;
  const actor = { ...actorOf(caller), executionId: holder.executionId };
  if (!previous || (previous.end !== 'EXPIRED' && previous.end !== 'REVOKED')) {
    return { kind: 'LEASE_ACQUIRED', actor, payload: { holder, ttl, attempt } };
  }
  return {
    kind: 'LEASE_TAKEN_OVER',
    actor,
    payload: {
      holder,
      ttl,
      attempt,
      previousHolder: previous.holder,
      previousEnd: previous.end,
      previousFencingToken: previous.fencingToken.toString(),
    },
  };
}

function refusedEvent(
  state: TaskState,
  caller: Caller,
  answer: Exclude<AcquireAnswer, { kind: 'GRANTED' }>,
): EventDraft {
  return {
    kind: 'ACQUIRE_REFUSED',
    actor: actorOf(caller),
    payload: { reason: answer.kind, ...(answer.kind === 'HELD' && { holder: answer.lease.holder }) },
    oncePerMinute: ['ACQUIRE_REFUSED', state.taskId, caller.principal].join('\u0001'),
  };
}
