import type { EventKind } from './event.js';
import type { Lease } from './lease.js';

/** What a watcher wants to be told; absent parts let everything through, and all that are given must hold. */
export interface WatchFilter {
  readonly taskIds: ReadonlySet<string> | undefined;
  readonly planId: string | undefined;
  readonly kinds: ReadonlySet<EventKind> | undefined;
  /** In canonical form. */
  readonly principal: string | undefined;
  readonly executionId: string | undefined;
}

/** Somebody in an event: who did it, or who held what it is about. */
interface Party {
  readonly principal?: string | undefined;
  readonly executionId?: string | undefined;
}

interface Told {
  readonly kind: EventKind;
  readonly taskId: string | undefined;
  readonly actor: string | undefined;
  readonly executionId: string | undefined;
  readonly payload: object;
}

/**
 * Whether an event passes.
 *
 * @param planId the plan that the event's task is a step of
 */
export function passesEvent(filter: WatchFilter, event: Told, planId: string | undefined): boolean {
  const { taskIds, kinds, principal, executionId } = filter;
  if (kinds && !kinds.has(event.kind)) return false;
  if (taskIds && !(event.taskId !== undefined && taskIds.has(event.taskId))) return false;
  if (filter.planId !== undefined && filter.planId !== planId) {
    const { planId: changed } = event.payload as { planId?: string };
    if (changed !== filter.planId) return false;
  }
  if (principal === undefined && executionId === undefined) return true;
  // Nobody does an expiry: it is its holder's, as is the lease that somebody else takes over or takes away.
  const { holder, previousHolder } = event.payload as { holder?: Party; previousHolder?: Party };
  const actor = { principal: event.actor, executionId: event.executionId };
  return isWanted(filter, actor) || isWanted(filter, holder) || isWanted(filter, previousHolder);
}

/** Whether a lease passes. Kinds are of events alone. */
export function passesLease(filter: WatchFilter, lease: Lease, planId: string | undefined): boolean {
  const { taskIds } = filter;
  if (taskIds && !taskIds.has(lease.taskId)) return false;
  if (filter.planId !== undefined && filter.planId !== planId) return false;
  return isWanted(filter, lease.holder);
}

function isWanted({ principal, executionId }: WatchFilter, party: Party | undefined): boolean {
  if (!party) return false;
  return (
    (principal === undefined || principal === party.principal) &&
    (executionId === undefined || executionId === party.executionId)
  );
}
