import { durationMs } from '@bufbuild/protobuf/wkt';
import { type Clock, type Holdfast, systemClock } from '@holdfast/client';
import { type Holdings, remainingMs, renewAll } from './holdings.js';

/** How leases are kept. */
export interface LeaseKeeperOptions {
  holdfast: Holdfast;
  project: string;
  executionId: string;
  /** How long after the agent's last call its leases are still renewed, in milliseconds. */
  idleMs: number;
  clock?: Clock;
  /** Between 0 and 1, for the jitter. */
  random?: () => number;
}

/**
 * Keeps the leases of one execution. Agents do not heartbeat: each call of theirs renews, and a timer does between
 * calls, but only for so long: an agent that hangs loses its tasks.
 */
export class LeaseKeeper {
  #clock: Clock;
  #random: () => number;
  #activeUntilMs = 0;
  #cancelTimer = () => {};
  #stopped = false;

  constructor(private readonly options: LeaseKeeperOptions) {
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
  }

  /** The agent shows that it is at work. */
  async active(): Promise<Holdings> {
    this.#noteActivity();
    return this.#renew();
  }

  /** Renews no more. */
  stop(): void {
    this.#stopped = true;
    this.#cancelTimer();
  }

  /** A lease was granted: from now on there is something to renew. */
  granted(ttlMs: number): void {
    this.#noteActivity();
    this.#wakeAfter(ttlMs / 3);
  }

  #noteActivity(): void {
    this.#activeUntilMs = this.#clock.now().monotonicMs + this.options.idleMs;
  }

  async #renew(): Promise<Holdings> {
    const { holdfast, project, executionId } = this.options;
    const holdings = await renewAll(holdfast, project, executionId, this.#clock);
    const thirds = [...holdings.live.values()].map(
      ({ lease }) => Math.min(lease.ttl ? durationMs(lease.ttl) : remainingMs(lease), remainingMs(lease)) / 3,
    );
    if (thirds.length > 0) this.#wakeAfter(Math.min(...thirds));
    else this.#cancelTimer();
    return holdings;
  }

  #wakeAfter(delayMs: number): void {
    this.#cancelTimer();
    if (this.#stopped) return;
    this.#cancelTimer = this.#clock.after(
      delayMs * (0.9 + 0.2 * this.#random()),
      () => void this.#wake(delayMs),
    );
  }

  async #wake(delayMs: number): Promise<void> {
    if (this.#stopped || this.#clock.now().monotonicMs >= this.#activeUntilMs) return;
    // A renewal that failed leaves the leases unknown, not lost: try again before they end.
    await this.#renew().catch(() => this.#wakeAfter(Math.min(delayMs / 2, 5_000)));
  }
}
