import type { Store } from '../store/store.js';
import type { Background, FaultListener } from './background.js';

/** Where the sequencer tells that it has numbered events. */
const CHANNEL = 'holdfast_history';

/**
 * Hears from the database that something happened, on whatever replica. Only a hint: what is sent while the
 * connection is down is lost, so everybody who relies on it also polls, and is told anew after a reconnect.
 */
export function listenForHints(store: Store, onHint: () => void, onFault: FaultListener): Background {
  const listening = store.database.sql.listen(CHANNEL, onHint, onHint).catch((error: unknown) => {
    onFault('listening for hints', error);
    return undefined;
  });
  return {
    async stop() {
      const subscription = await listening;
      // The pool is closed right after: an answer to UNLISTEN is not worth waiting for.
      subscription?.unlisten().catch(() => {});
    },
  };
}
