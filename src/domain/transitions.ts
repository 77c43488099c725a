import { type Change, whileLive } from './change.js';
import type { Decision, Snapshot } from './decision.js';
import type { EventDraft } from './event.js';
import type { Proof } from './guard.js';
import type { Micros } from './instant.js';
import { endedEvent, readyAgain } from './lease-end.js';
import { type Dependent, satisfies, type UnmetDependency } from './neighbours.js';
import { type Caller, isHolder } from './principal.js';
import type { Problem } from './problem.js';
import { liveLease, type TaskState, type TaskStatus } from './task-state.js';
import { actorOf, type GuardedRequest, guarded } from './write.js';

/** From which statuses each transition may start, in every enforcement mode. */
const FROM = {
  complete: { anyone: ['OPEN', 'IN_PROGRESS'], people: ['QUARANTINED'] },
  drop: { anyone: ['OPEN', 'IN_PROGRESS'], people: ['QUARANTINED'] },
  reopen: { anyone: ['DONE', 'DROPPED'], people: [] },
  requeue: { anyone: [], people: ['QUARANTINED'] },
} as const satisfies Record<string, { anyone: readonly TaskStatus[]; people: readonly TaskStatus[] }>;

type Transition = keyof typeof FROM;

function barred(transition: Transition, state: TaskState, caller: Caller): Problem | undefined {
  const { anyone, people } = FROM[transition];
  const includes = (statuses: readonly TaskStatus[]) => statuses.includes(state.status);
  if (includes(anyone) || (caller.kind === 'PERSON' && includes(people))) return undefined;
  const allowed = [...anyone, ...people].join(' or ');
  return {
    kind: 'FAILED_PRECONDITION',
    message: includes(people)
      ? `Only a person may ${transition} a task that is ${state.status}.`
      : `Cannot ${transition} a task that is ${state.status}: it must be ${allowed}.`,
  };
}

/**
 * What every change of a task's status relies on: who holds it, and that the row's edges are as they were read,
 * since those who wait for it are told in the same statement.
 */
function basis(state: TaskState): Pick<Change, 'taskId' | 'expect' | 'before' | 'propagates'> {
  return {
    taskId: state.taskId,
    expect: { leaseVersion: state.leaseVersion, depsVersion: state.depsVersion },
    ...whileLive(state),
    ...(state.dependents > 0 && { propagates: true }),
  };
}

/** How a live lease ends when its task is closed or deleted: by its holder, or under it. */
function endLease(
  { state, now }: Snapshot,
  caller: Caller,
  cause: 'COMPLETED' | 'DROPPED' | 'DELETED',
): { lease?: Change['lease'] & object; events: EventDraft[] } {
  const live = liveLease(state, now);
  if (!live) return { events: [] };
  if (isHolder(live.holder, caller)) {
    return {
      lease: { op: 'end', end: cause === 'COMPLETED' ? 'COMPLETED' : 'RELEASED', by: caller.principal },
      events: [endedEvent('LEASE_RELEASED', live, caller, cause)],
    };
  }
  return {
    lease: { op: 'end', end: 'REVOKED', by: caller.principal },
    events: [endedEvent('LEASE_REVOKED', live, caller, 'CLOSED_BY_OTHER')],
  };
}

/**
 * The completion that this proof stands for has happened already: a retry gets its answer. The lease must
 * have ended in the very statement that closed the task: it may have been reopened and closed again since.
 */
function completedBy(
  state: TaskState,
  caller: Caller,
  proof: Proof | undefined,
  closedAt: Micros | undefined,
): boolean {
  const last = state.previous;
  return (
    proof !== undefined &&
    state.status === 'DONE' &&
    last?.end === 'COMPLETED' &&
    last.endedAt === closedAt &&
    last.id === proof.leaseId &&
    last.fencingToken === proof.fencingToken &&
    last.holder.principal === caller.principal
  );
}

export function decideComplete(
  snapshot: Snapshot,
  caller: Caller,
  request: GuardedRequest,
  result: string,
  task: { readonly closedAt: Micros | undefined },
  unmet: readonly UnmetDependency[] = [],
): Decision<'COMPLETED' | 'ALREADY_COMPLETED'> {
  const { state } = snapshot;
  if (completedBy(state, caller, request.proof, task.closedAt)) return { answer: 'ALREADY_COMPLETED' };
  return guarded(snapshot, caller, { ...request, keep: result }, (audit) => {
    const problem = barred('complete', state, caller);
    if (problem) return { problem };
    if (state.unmet > 0) return { problem: { kind: 'BLOCKED', unmet, count: state.unmet } };
    const { lease, events } = endLease(snapshot, caller, 'COMPLETED');
    return {
      answer: 'COMPLETED',
      ref: state.taskId,
      change: {
        ...basis(state),
        status: 'DONE',
        expiriesInARow: 0,
        ...(lease && { lease }),
        closing: { result, by: caller.principal },
        events: [
          ...audit,
          { kind: 'TASK_COMPLETED', actor: actorOf(caller), payload: { result } },
          ...events,
        ],
      },
    };
  });
}

/** Those who go on waiting for a task although it was dropped. */
export function stillBlockedBy(dependents: readonly Dependent[]): string[] {
  return dependents.filter(({ acceptDropped }) => !acceptDropped).map(({ taskId }) => taskId);
}

/** Those whom a reopened task satisfied until now. */
export function blockedAgainBy(before: TaskState, dependents: readonly Dependent[]): string[] {
  return dependents
    .filter(({ acceptDropped }) => satisfies(before.status, acceptDropped))
    .map(({ taskId }) => taskId);
}

export function decideDrop(
  snapshot: Snapshot,
  caller: Caller,
  request: GuardedRequest,
  reason: string,
  dependents: readonly Dependent[] = [],
): Decision<'DROPPED'> {
  const { state } = snapshot;
  return guarded(snapshot, caller, request, (audit) => {
    const problem = barred('drop', state, caller);
    if (problem) return { problem };
    const { lease, events } = endLease(snapshot, caller, 'DROPPED');
    return {
      answer: 'DROPPED',
      change: {
        ...basis(state),
        status: 'DROPPED',
        expiriesInARow: 0,
        ...(lease && { lease }),
        closing: { by: caller.principal },
        events: [
          ...audit,
          {
            kind: 'TASK_DROPPED',
            actor: actorOf(caller),
            payload: { reason, stillBlocked: stillBlockedBy(dependents) },
          },
          ...events,
        ],
      },
    };
  });
}

export function decideReopen(
  snapshot: Snapshot,
  caller: Caller,
  request: GuardedRequest,
  reason: string,
  dependents: readonly Dependent[] = [],
): Decision<'REOPENED'> {
  const { state } = snapshot;
  return guarded(snapshot, caller, request, (audit) => {
    const problem = barred('reopen', state, caller);
    if (problem) return { problem };
    return {
      answer: 'REOPENED',
      change: {
        ...basis(state),
        status: 'OPEN',
        closing: 'reopened',
        events: [
          ...audit,
          {
            kind: 'TASK_REOPENED',
            actor: actorOf(caller),
            payload: {
              reason,
              previousStatus: state.status,
              blockedAgain: blockedAgainBy(state, dependents),
            },
          },
          ...readyAgain(state, 'REOPENED'),
        ],
      },
    };
  });
}

export function decideRequeue(snapshot: Snapshot, caller: Caller, reason: string): Decision<'REQUEUED'> {
  const { state } = snapshot;
  const problem = barred('requeue', state, caller);
  if (problem) return { problem };
  return {
    answer: 'REQUEUED',
    change: {
      ...basis(state),
      status: 'OPEN',
      expiriesInARow: 0,
      events: [
        { kind: 'TASK_REQUEUED', actor: actorOf(caller), payload: { reason } },
        ...readyAgain(state, 'REQUEUED'),
      ],
    },
  };
}

/** Whether a deletion may take the task away from those who wait for it, and who they are. */
interface Detaching {
  readonly detach: boolean;
  readonly dependents: readonly Dependent[];
}

export function decideDelete(
  snapshot: Snapshot,
  caller: Caller,
  request: GuardedRequest,
  task: {
    readonly title: string;
    readonly externalKey: string | undefined;
    readonly planId?: string | undefined;
  },
  { detach, dependents }: Detaching = { detach: false, dependents: [] },
): Decision<'DELETED'> {
  const { state } = snapshot;
  return guarded(snapshot, caller, request, (audit) => {
    if (state.dependents > 0 && !detach) {
      return {
        problem: {
          kind: 'FAILED_PRECONDITION',
          message:
            `${state.dependents} task(s) wait for this one, such as ${dependents[0]?.taskId}. ` +
            'With detach they no longer do.',
        },
      };
    }
    const { lease, events } = endLease(snapshot, caller, 'DELETED');
    return {
      answer: 'DELETED',
      change: {
        ...basis(state),
        ...(lease && { lease }),
        remove: { by: actorOf(caller) },
        events: [
          ...audit,
          ...events,
          {
            kind: 'TASK_DELETED',
            actor: actorOf(caller),
            payload: {
              title: task.title,
              ...(task.externalKey !== undefined && { externalKey: task.externalKey }),
              ...(task.planId !== undefined && { planId: task.planId }),
              detached: dependents.map(({ taskId }) => taskId),
            },
          },
        ],
      },
    };
  });
}
