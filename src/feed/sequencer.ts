import { numberEvents } from '../store/history.js';
import type { Store } from '../store/store.js';
import type { Background, FaultListener } from './background.js';

/**
 * The least time between two calls that nobody waits for, in milliseconds. Each call is a commit of its own: one for
 * every acquire and release took as much of the database as they did. An idle server numbers at once.
 */
const LEAST_PAUSE_MS = 20;

/** What one call numbers at most, so that no call holds the lock for long. */
const BATCH = 1_000;

export interface Sequencer extends Background {
  /** Events were committed: number them soon. Never blocks, never throws. */
  request(): void;
  /** Numbers all that was committed before this call, then resolves. */
  catchUp(): Promise<void>;
}

/**
 * Gives committed events their positions. One call is under way at a time and covers all that was committed
 * before it began; requests that come meanwhile share the next. The poll covers other processes that died
 * between their commit and their call.
 */
export function createSequencer(store: Store, onFault: FaultListener, pollMs = 1_000): Sequencer {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  let stopped = false;
  let startedAt = Number.NEGATIVE_INFINITY;
  let later: NodeJS.Timeout | undefined;

  const numberAll = async () => {
    startedAt = performance.now();
    while ((await numberEvents(store, BATCH)) === BATCH);
  };

  /** The first call that begins after now: the one under way may have taken its snapshot already. */
  const catchUp = (): Promise<void> => {
    if (!running) {
      running = numberAll().finally(() => {
        running = undefined;
      });
      return running;
    }
    next ??= running
      .catch(() => {})
      .then(() => {
        next = undefined;
        return catchUp();
      });
    return next;
  };

  const catchUpInBackground = () => {
    later = undefined;
    // The next call covers this request, too, and its failure is told once.
    if (next) return;
    catchUp().catch((error) => {
      // When the server stops, its pool is closed beneath a call that takes too long.
      if (!stopped) onFault('sequencer', error);
    });
  };
  const request = () => {
    if (stopped || later) return;
    const pause = startedAt + LEAST_PAUSE_MS - performance.now();
    if (pause <= 0) catchUpInBackground();
    else later = setTimeout(catchUpInBackground, pause);
  };
  const poll = setInterval(request, pollMs);
  poll.unref();

  return {
    request,
    catchUp,
    async stop() {
      stopped = true;
      clearInterval(poll);
      clearTimeout(later);
      await Promise.allSettled([running, next]);
    },
  };
}
