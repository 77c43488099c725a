import type { Micros } from '../domain/instant.js';
import type { Store } from '../store/store.js';
import { sweep } from '../store/sweep.js';
import { type Background, type FaultListener, LONGEST_TIMER_MS } from './background.js';

const BATCH = 500;

export interface ExpiryTimer extends Background {
  /** A lease was granted or renewed that ends in so many microseconds. */
  deadlineSet(remaining: Micros): void;
}

/**
 * Sweeps expired leases: at the next known deadline, and at least once a poll, since other replicas grant
 * leases too. Only spans come from the database, so no clock of this process is compared with a deadline.
 */
export function createExpiryTimer(store: Store, onFault: FaultListener, pollMs = 1_000): ExpiryTimer {
  let timer: NodeJS.Timeout | undefined;
  let firesAt = Number.POSITIVE_INFINITY;
  let sweeping: Promise<void> | undefined;
  let again = false;
  let stopped = false;

  const schedule = (inMs: number) => {
    const at = performance.now() + inMs;
    if (stopped || at >= firesAt) return;
    clearTimeout(timer);
    firesAt = at;
    timer = setTimeout(fire, Math.min(Math.max(0, Math.ceil(inMs)), LONGEST_TIMER_MS));
    timer.unref();
  };

  const fire = () => {
    firesAt = Number.POSITIVE_INFINITY;
    if (sweeping) {
      // A deadline came while a sweep is under way, perhaps after it looked.
      again = true;
      return;
    }
    sweeping = sweepAll()
      .catch((error) => onFault('expiry sweep', error))
      .finally(() => {
        sweeping = undefined;
        schedule(again ? 0 : pollMs);
        again = false;
      });
  };

  const sweepAll = async () => {
    while (!stopped) {
      const began = performance.now();
      const { due, expired, nextIn } = await sweep(store, BATCH);
      if (nextIn !== undefined) schedule(nextIn / 1_000 - (performance.now() - began));
      // What is due and was not recorded is locked by somebody: leave it for the next turn.
      if (due < BATCH || expired === 0) break;
    }
  };

  schedule(0);
  return {
    deadlineSet: (remaining) => schedule(remaining / 1_000),
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await sweeping;
    },
  };
}
