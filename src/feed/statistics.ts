import { analyzeGrown } from '../store/statistics.js';
import type { Store } from '../store/store.js';
import type { Background, FaultListener } from './background.js';

/** Keeps what Postgres knows of the tables' sizes near the truth while they grow fast, as young ones do. */
export function createStatistics(store: Store, onFault: FaultListener, everyMs = 5_000): Background {
  let running: Promise<unknown> | undefined;
  let stopped = false;
  const timer = setInterval(() => {
    running ??= analyzeGrown(store)
      .catch((error) => {
        // When the server stops, its pool is closed beneath a count that takes too long.
        if (!stopped) onFault('statistics', error);
      })
      .finally(() => {
        running = undefined;
      });
  }, everyMs);
  timer.unref();
  return {
    async stop() {
      stopped = true;
      clearInterval(timer);
      await running;
    },
  };
}
