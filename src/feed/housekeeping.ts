import { forgetOldRequests } from '../store/requests.js';
import type { Store } from '../store/store.js';
import type { Background, FaultListener } from './background.js';

const BATCH = 1_000;

/** Forgets request ids that are older than a day, a batch at a time, every minute. */
export function createHousekeeping(store: Store, onFault: FaultListener, everyMs = 60_000): Background {
  let running: Promise<void> | undefined;
  const tidy = async () => {
    while ((await forgetOldRequests(store.database.sql, BATCH)) === BATCH);
  };
  const timer = setInterval(() => {
    running ??= tidy()
      .catch((error) => onFault('housekeeping', error))
      .finally(() => {
        running = undefined;
      });
  }, everyMs);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
