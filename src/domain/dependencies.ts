import { type Change, type Edge, whileLive } from './change.js';
import type { Decision, Snapshot } from './decision.js';
import type { EventDraft } from './event.js';
import { readyAgain } from './lease-end.js';
import { satisfies } from './neighbours.js';
import type { Caller } from './principal.js';
import type { Problem } from './problem.js';
import type { TaskState } from './task-state.js';
import { actorOf, type GuardedRequest, guarded } from './write.js';

/** The most tasks that one task may wait for. */
export const MAX_BLOCKERS = 1000;

/** What is known of the other end of an edge that comes or goes. */
export interface EdgeFacts {
  /** The task to wait for; undefined when the project has no such task. */
  readonly blocker: TaskState | undefined;
  /** The edge as it is, if it is there. */
  readonly existing: Edge | undefined;
  /** The blocker is a sub-task of the waiting task. */
  readonly isChild: boolean;
  /** The way from the blocker back to the waiting task, both included, when the edge would close a cycle. */
  readonly path: readonly string[] | undefined;
  /** What the search for that way relied on; undefined when none was needed. */
  readonly graphVersion: bigint | undefined;
}

function otherEnd(blocker: TaskState, dependents: 1 | -1): Change {
  return {
    taskId: blocker.taskId,
    expect: { leaseVersion: blocker.leaseVersion, depsVersion: blocker.depsVersion },
    deps: { dependents },
    events: [],
  };
}

export function noSuchBlocker(ids: readonly string[]): Problem {
  const names = ids.map((id) => JSON.stringify(id)).join(', ');
  return { kind: 'NOT_FOUND', message: `blocked_by names ${names}: there is no such task in this project.` };
}

export function wouldCycle(path: readonly string[]): Problem {
  const shown = path.length > 20 ? [...path.slice(0, 10), '…', ...path.slice(-9)] : path;
  return {
    kind: 'FAILED_PRECONDITION',
    message: `That would be a cycle of ${path.length} tasks: ${shown.join(' waits for ')} waits for ${path[0]}.`,
  };
}

/** A change of an edge moves the versions of both its ends, so that a completion under way notices it. */
export function decideAddDependency(
  snapshot: Snapshot,
  caller: Caller,
  request: GuardedRequest,
  { blocker, existing, path, graphVersion }: EdgeFacts,
  edge: Edge,
): Decision<'ADDED' | 'UNCHANGED'> {
  const { state } = snapshot;
  return guarded(snapshot, caller, request, (audit) => {
    if (!blocker) return { problem: noSuchBlocker([edge.blockerId]) };
    if (existing) {
      if (existing.acceptDropped === edge.acceptDropped) return { answer: 'UNCHANGED' };
      return {
        problem: {
          kind: 'FAILED_PRECONDITION',
          message: 'The dependency exists with another accept_dropped: remove it first.',
        },
      };
    }
    if (path) return { problem: wouldCycle(path) };
    if (state.blockers >= MAX_BLOCKERS) {
      return {
        problem: {
          kind: 'FAILED_PRECONDITION',
          message: `The task waits for ${state.blockers} others already; at most ${MAX_BLOCKERS} are allowed.`,
        },
      };
    }
    const unmet = satisfies(blocker.status, edge.acceptDropped) ? 0 : 1;
    return {
      answer: 'ADDED',
      ref: state.taskId,
      change: {
        taskId: state.taskId,
        expect: { leaseVersion: state.leaseVersion, depsVersion: state.depsVersion },
        ...whileLive(state),
        deps: { unmet, blockers: 1 },
        edges: { add: [edge] },
        ...(graphVersion !== undefined && { graphVersion }),
        events: [...audit, edgeEvent('DEPENDENCY_ADDED', caller, edge)],
      },
      also: [otherEnd(blocker, 1)],
    };
  });
}

export function decideRemoveDependency(
  snapshot: Snapshot,
  caller: Caller,
  request: GuardedRequest,
  { blocker, existing, isChild }: EdgeFacts,
  blockerId: string,
): Decision<'REMOVED'> {
  const { state } = snapshot;
  return guarded(snapshot, caller, request, (audit) => {
    if (!existing || !blocker) {
      const message = `The task does not wait for ${JSON.stringify(blockerId)}.`;
      return { problem: { kind: 'NOT_FOUND', message } };
    }
    if (isChild) {
      const message = 'A task always waits for its sub-tasks: complete, drop or delete the sub-task instead.';
      return { problem: { kind: 'FAILED_PRECONDITION', message } };
    }
    const unmet = satisfies(blocker.status, existing.acceptDropped) ? 0 : 1;
    const unblocked = unmet === 1 && state.unmet === 1 && state.status === 'OPEN';
    return {
      answer: 'REMOVED',
      ref: state.taskId,
      change: {
        taskId: state.taskId,
        expect: { leaseVersion: state.leaseVersion, depsVersion: state.depsVersion },
        ...whileLive(state),
        deps: { unmet: -unmet, blockers: -1 },
        edges: { remove: [blockerId] },
        events: [
          ...audit,
          edgeEvent('DEPENDENCY_REMOVED', caller, existing),
          ...(unblocked ? readyAgain({ unmet: 0 }, 'DEPENDENCY_REMOVED') : []),
        ],
      },
      also: [otherEnd(blocker, -1)],
    };
  });
}

/** A new sub-task makes its parent wait, which is a write of the parent. */
export function decideAddChild(
  snapshot: Snapshot,
  caller: Caller,
  request: GuardedRequest,
): Decision<{ readonly audit: readonly EventDraft[] }> {
  const { state } = snapshot;
  return guarded(snapshot, caller, request, (audit) => {
    if (state.status === 'DONE' || state.status === 'DROPPED') {
      const message = `The parent is ${state.status}: reopen it before you add sub-tasks.`;
      return { problem: { kind: 'FAILED_PRECONDITION', message } };
    }
    if (state.blockers >= MAX_BLOCKERS) {
      const message = `The parent waits for ${state.blockers} tasks already; at most ${MAX_BLOCKERS} are allowed.`;
      return { problem: { kind: 'FAILED_PRECONDITION', message } };
    }
    return { answer: { audit } };
  });
}

export function edgeEvent(
  kind: 'DEPENDENCY_ADDED' | 'DEPENDENCY_REMOVED',
  caller: Caller,
  { blockerId, acceptDropped }: Edge,
): EventDraft {
  return { kind, actor: actorOf(caller), payload: { blockedBy: blockerId, acceptDropped } };
}
