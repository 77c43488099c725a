import { openListener } from '../store/listener.js';
import type { Store } from '../store/store.js';
import type { Background, FaultListener } from './background.js';

/** Where the sequencer tells that it has numbered events. */
const HISTORY = 'holdfast_history';
/** Where replicas tell of leases that they renewed. */
export const LEASES = 'holdfast_leases';

export interface HintHandlers {
  /** Something happened, on whatever replica. */
  readonly onHistory: () => void;
  /** Leases were renewed, on whatever replica. */
  readonly onLeases: (payload: string) => void;
}

/**
 * Hears from the database what happened, on whatever replica. Only hints: what is sent while the connection is down
 * is lost, so everybody who relies on them also polls, and is told anew after a reconnect.
 */
export function listenForHints(
  store: Store,
  { onHistory, onLeases }: HintHandlers,
  onFault: FaultListener,
): Background {
  const listener = openListener(store.database, {
    channels: { [HISTORY]: onHistory, [LEASES]: onLeases },
    onListening: onHistory,
    onFault: (error) => onFault('listening for hints', error),
  });
  return {
    async stop() {
      listener.close();
    },
  };
}
