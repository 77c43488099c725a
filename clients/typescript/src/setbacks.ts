const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/**
 * The tasks on which the command failed. Each is left alone for longer after each failure, and after too many for good:
 * a task that nobody can do must not keep the worker from the others. Nothing is done to it; others may still try.
 */
export class Setbacks {
  readonly #mostFailures: number;
  readonly #now: () => number;
  readonly #tasks = new Map<string, { failures: number; until: number }>();

  /** @param now a clock that only goes forward, in milliseconds */
  constructor(mostFailures: number, now: () => number = () => performance.now()) {
    this.#mostFailures = mostFailures;
    this.#now = now;
  }

  /** @returns how long the task is left alone, in milliseconds; Infinity: for good */
  failed(taskId: string): number {
    const failures = (this.#tasks.get(taskId)?.failures ?? 0) + 1;
    const pause =
      failures >= this.#mostFailures
        ? Number.POSITIVE_INFINITY
        : Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
    this.#tasks.set(taskId, { failures, until: this.#now() + pause });
    return pause;
  }

  succeeded(taskId: string): void {
    this.#tasks.delete(taskId);
  }

  /** The tasks to leave alone now. */
  get resting(): ReadonlySet<string> {
    return this.#having(({ until }) => until > this.#now());
  }

  /** The tasks that are left alone for good. */
  get givenUp(): ReadonlySet<string> {
    return this.#having(({ until }) => until === Number.POSITIVE_INFINITY);
  }

  #having(fits: (task: { until: number }) => boolean): Set<string> {
    return new Set([...this.#tasks].filter(([, task]) => fits(task)).map(([taskId]) => taskId));
  }
}
