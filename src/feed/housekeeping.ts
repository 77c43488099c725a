import type { Micros } from '../domain/instant.js';
import { forgetUnwanted } from '../store/deliveries.js';
import { forgetAcknowledged } from '../store/notifications.js';
import { forgetOldRequests } from '../store/requests.js';
import { pruneHistory } from '../store/retention.js';
import type { Store } from '../store/store.js';
import { forgetExpiredTokens } from '../store/tokens.js';
import type { Background, FaultListener } from './background.js';

const BATCH = 1_000;

/**
 * Forgets request ids that are older than a day, notifications that were read and tokens that expired long ago, and
 * events that are older than the history is kept, a batch at a time, every minute.
 *
 * @param historyKeptFor in microseconds; 0: for ever
 */
export function createHousekeeping(
  store: Store,
  onFault: FaultListener,
  historyKeptFor: Micros = 0,
  everyMs = 60_000,
): Background {
  let running: Promise<void> | undefined;
  let stopped = false;
  const tidy = async () => {
    while (!stopped && (await forgetOldRequests(store.database.sql, BATCH)) === BATCH);
    while (!stopped && (await forgetAcknowledged(store, BATCH)) === BATCH);
    while (!stopped && (await forgetExpiredTokens(store, BATCH)) === BATCH);
    await forgetUnwanted(store);
    while (!stopped && historyKeptFor > 0 && (await pruneHistory(store, historyKeptFor, BATCH)).more);
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
      stopped = true;
      clearInterval(timer);
      await running;
    },
  };
}
