import type { Micros } from '../domain/instant.js';
import { renewing } from '../domain/lease-end.js';
import type { Holder } from '../domain/principal.js';
import { lapsedLease } from '../domain/task-state.js';
import type { Applied } from './apply.js';
import { Contention } from './database-error.js';
import { tasksHeldBy } from './leases.js';
import { applyAll, settle } from './mutate.js';
import type { Store } from './store.js';

const MAX_TRIES = 4;

/**
 * Renews all live leases of an execution in one statement. Lapsed ones are recorded as expired. A lease that
 * changed hands meanwhile drops out; one whose row was merely busy is tried again.
 *
 * @throws Contention when others were faster every time with one that may still be live; some may have been renewed
 */
export async function renewExecution(
  store: Store,
  project: string,
  holder: Holder,
  ttl: Micros | undefined,
): Promise<Applied[]> {
  const renewed = new Map<string, Applied>();
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const reads = await tasksHeldBy(store, project, holder);
    for (const read of reads) if (lapsedLease(read.state, read.now)) await settle(store, project, read);
    const changes = reads.flatMap((read) => {
      const { state, now } = read;
      const live = state.lease && !lapsedLease(state, now) ? state.lease : undefined;
      return live && !renewed.has(state.taskId) ? [{ project, change: renewing(read, live, ttl) }] : [];
    });
    if (changes.length === 0) break;
    for (const applied of await applyAll(store, changes)) {
      if (applied.state) renewed.set(applied.state.taskId, applied);
    }
    if (changes.every(({ change }) => renewed.has(change.taskId))) break;
    // Whoever is told nothing of a lease takes it for lost. Renewing the others once more does no harm.
    if (tries === MAX_TRIES - 1) throw new Contention();
  }
  return [...renewed.values()];
}
