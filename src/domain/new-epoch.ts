import { type Change, whileLive } from './change.js';
import { readyAgain } from './lease-end.js';
import type { CurrentLease, TaskState } from './task-state.js';

/** Who ends leases when a restored database begins a new epoch: no principal of the project did. */
const ENDED_BY = 'new-epoch';
const REASON = 'The database was restored from a backup; what was done under this lease since may be lost.';

/**
 * Takes a live lease of a restored backup away. Its holder may have gone on after the backup: released it, completed
 * the task, seen it taken over. Nobody knows, so nobody may go on from there.
 */
export function revokeForNewEpoch(state: TaskState, lease: CurrentLease): Change {
  return {
    taskId: state.taskId,
    expect: { leaseVersion: state.leaseVersion, depsVersion: state.depsVersion },
    ...whileLive(state),
    status: 'OPEN',
    lease: { op: 'end', end: 'REVOKED', by: ENDED_BY, reason: REASON },
    events: [
      {
        kind: 'LEASE_REVOKED',
        payload: { holder: lease.holder, cause: 'FORCED', expiresAt: lease.expiresAt, reason: REASON },
      },
      ...readyAgain(state, 'REVOKED'),
    ],
  };
}
