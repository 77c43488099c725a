import { releasing } from '../domain/lease-end.js';
import type { Caller } from '../domain/principal.js';
import { lapsedLease } from '../domain/task-state.js';
import { Contention } from './database-error.js';
import { markEnded } from './executions.js';
import { findLeases, type LeasesRead, tasksHeldBy } from './leases.js';
import { applyAll, settle } from './mutate.js';
import type { Store } from './store.js';

/**
 * Ends an execution: first the mark, which keeps later acquires out and waits for grants under way; then,
 * with a fresh snapshot that sees those grants, all its leases in one statement.
 */
export async function endExecution(
  store: Store,
  project: string,
  caller: Caller,
  executionId: string,
): Promise<{ alreadyEnded: boolean } & LeasesRead> {
  const holder = { principal: caller.principal, executionId };
  const ended = await markEnded(store, project, caller, holder);
  const released: string[] = [];
  for (let tries = 0; tries < 8; tries++) {
    const reads = await tasksHeldBy(store, project, holder);
    const lapsed = reads.filter(({ state, now }) => lapsedLease(state, now));
    for (const read of lapsed) await settle(store, project, read);
    const changes = reads.flatMap(({ state, now }) =>
      state.lease && !lapsedLease(state, now)
        ? [{ project, change: releasing(state, state.lease, { ...caller, executionId }, 'EXECUTION_ENDED') }]
        : [],
    );
    if (changes.length === 0)
      return { alreadyEnded: !ended, ...(await findLeases(store, project, released)) };
    for (const { state } of await applyAll(store, changes)) {
      if (state?.previous) released.push(state.previous.id);
    }
  }
  throw new Contention();
}
