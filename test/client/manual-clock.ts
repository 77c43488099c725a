import type { Clock } from '@holdfast/client';

/** A clock that stands still until a test moves it. */
export class ManualClock implements Clock {
  #monotonicMs = 1_000;
  #wallMs = 1_700_000_000_000;
  #timers: { atMs: number; delayMs: number; wake: () => void }[] = [];

  /** The timers that are waiting. */
  get timers(): number {
    return this.#timers.length;
  }

  /** The longest delay that was ever asked for. */
  longestDelayMs = 0;

  now() {
    return { monotonicMs: this.#monotonicMs, wallMs: this.#wallMs };
  }

  after(delayMs: number, wake: () => void): () => void {
    this.longestDelayMs = Math.max(this.longestDelayMs, delayMs);
    const timer = { atMs: this.#monotonicMs + delayMs, delayMs, wake };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Moves both clocks and wakes the timers on the way, each at its time. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#monotonicMs + ms;
    for (;;) {
      const next = this.#timers.filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs)[0];
      if (!next) break;
      this.#timers = this.#timers.filter((other) => other !== next);
      this.#moveTo(Math.max(next.atMs, this.#monotonicMs));
      next.wake();
      await settle();
    }
    this.#moveTo(endMs);
    await settle();
  }

  /** Moves both clocks and wakes nobody: an event loop that is blocked. */
  block(ms: number): void {
    this.#moveTo(this.#monotonicMs + ms);
  }

  /** Moves the wall clock alone: the machine slept, or somebody set the clock. */
  jump(ms: number): void {
    this.#wallMs += ms;
  }

  #moveTo(monotonicMs: number): void {
    this.#wallMs += monotonicMs - this.#monotonicMs;
    this.#monotonicMs = monotonicMs;
  }
}

/** Lets calls over an in-memory transport come back. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
}
