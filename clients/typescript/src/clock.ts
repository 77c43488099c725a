/** Node fires timers longer than this after 1 ms, so none may be. In milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * One moment, read from two clocks, in milliseconds. The monotonic clock is never set, but on Linux it stands
 * still while the machine is suspended; the wall clock goes on in suspend, but may be set.
 */
export interface Instant {
  monotonicMs: number;
  wallMs: number;
}

/** Where a lease's timing comes from. Tests give their own. */
export interface Clock {
  now(): Instant;
  /** Calls `wake` once after `delayMs` (0 to 2^31 − 1); the returned function cancels that. */
  after(delayMs: number, wake: () => void): () => void;
}

/** The machine's clocks and timers. */
export const systemClock: Clock = {
  now: () => ({ monotonicMs: performance.now(), wallMs: Date.now() }),
  after(delayMs, wake) {
    const timer = setTimeout(wake, Math.min(Math.max(delayMs, 0), MAX_TIMER_MS));
    return () => clearTimeout(timer);
  },
};

/** Waits `delayMs`; rejects with a signal's reason when that fires first. Leaves no timer and no listener. */
export function sleep(clock: Clock, delayMs: number, ...signals: (AbortSignal | undefined)[]): Promise<void> {
  const given = signals.filter((signal) => signal !== undefined);
  return new Promise((resolve, reject) => {
    const fired = given.find(({ aborted }) => aborted);
    if (fired) return reject(fired.reason);
    const end = () => {
      cancel();
      for (const signal of given) signal.removeEventListener('abort', abort);
    };
    const abort = (event: Event) => {
      end();
      reject((event.target as AbortSignal).reason);
    };
    const cancel = clock.after(Math.min(delayMs, MAX_TIMER_MS), () => {
      end();
      resolve();
    });
    for (const signal of given) signal.addEventListener('abort', abort);
  });
}
