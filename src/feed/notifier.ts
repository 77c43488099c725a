import { tellEvents } from '../store/notifications.js';
import type { Store } from '../store/store.js';
import type { Background, FaultListener } from './background.js';

/** The least time between two looks at the history, in milliseconds: the hint comes with every change of a task. */
const LEAST_PAUSE_MS = 100;

export interface Notifier extends Background {
  /** Events may have got their positions. Never blocks, never throws. */
  wake(): void;
}

/**
 * Turns the numbered history into notifications and deliveries. Woken by the hint, which may be lost, and by a poll.
 *
 * @param onDeliveries told when deliveries were put into the outbox
 */
export function createNotifier(
  store: Store,
  onDeliveries: () => void,
  onFault: FaultListener,
  pollMs = 1_000,
): Notifier {
  let running: Promise<void> | undefined;
  let later: NodeJS.Timeout | undefined;
  let again = false;
  let stopped = false;
  let endedAt = Number.NEGATIVE_INFINITY;

  const tellAll = async () => {
    while (!stopped) {
      const { events, deliveries } = await tellEvents(store);
      if (deliveries > 0) onDeliveries();
      if (events === 0) return;
    }
  };

  const run = () => {
    later = undefined;
    again = false;
    running = tellAll()
      .catch((error) => onFault('notifications', error))
      .finally(() => {
        running = undefined;
        endedAt = performance.now();
        if (again) wake();
      });
  };

  const wake = () => {
    if (stopped || later) return;
    if (running) again = true;
    else later = setTimeout(run, Math.max(0, endedAt + LEAST_PAUSE_MS - performance.now()));
  };
  const poll = setInterval(wake, pollMs);
  poll.unref();

  return {
    wake,
    async stop() {
      stopped = true;
      clearInterval(poll);
      clearTimeout(later);
      await running;
    },
  };
}
