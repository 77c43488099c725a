/** How much one token may ask of this process. 0 of anything: as much as it likes. */
export interface Quotas {
  /** On average; what was not used of the last ten seconds may be used at once. */
  readonly requestsPerSecond: number;
  /** Streams that are open at a time. */
  readonly watches: number;
  /** Calls for the next task that wait at a time. */
  readonly waiters: number;
}

export const NO_QUOTAS: Quotas = { requestsPerSecond: 0, watches: 0, waiters: 0 };

/** How many seconds' worth of requests a token may save up. */
const SAVED_SECONDS = 10;

/** Beyond so many, those that are full again are forgotten. */
const MANY = 1_000;

/** A bucket of requests for each token: each request takes one, and they come back at a steady rate. */
export class RequestBuckets {
  /** When a token's bucket will be full again, in milliseconds of this process's clock. */
  readonly #fullAt = new Map<string, number>();
  readonly #everyMs: number;
  readonly #spanMs: number;

  /** @param perSecond above 0 */
  constructor(perSecond: number) {
    this.#everyMs = 1_000 / perSecond;
    this.#spanMs = Math.max(SAVED_SECONDS * 1_000, this.#everyMs);
  }

  /**
   * Takes a request out of a token's bucket.
   *
   * @param now of a clock that never goes back, in milliseconds
   * @returns 0, or in how many milliseconds there will be one to take
   */
  take(token: string, now: number): number {
    const fullAt = Math.max(this.#fullAt.get(token) ?? now, now) + this.#everyMs;
    const tooEarly = fullAt - now - this.#spanMs;
    // A whole bucket takes a whole number of requests, but for what is lost to fractions.
    if (tooEarly > 1e-6) return tooEarly;
    if (this.#fullAt.size >= MANY && !this.#fullAt.has(token)) this.#forget(now);
    this.#fullAt.set(token, fullAt);
    return 0;
  }

  #forget(now: number): void {
    for (const [token, fullAt] of this.#fullAt) if (fullAt <= now) this.#fullAt.delete(token);
  }
}

/** How many calls of a kind each token has open. */
export class OpenCalls {
  readonly #open = new Map<string, number>();

  constructor(private readonly most: number) {}

  /**
   * Counts one more.
   *
   * @returns what ends it, and may be called again; undefined when there are as many as there may be
   */
  enter(token: string): (() => void) | undefined {
    const open = this.#open.get(token) ?? 0;
    if (open >= this.most) return undefined;
    this.#open.set(token, open + 1);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const now = this.#open.get(token) ?? 0;
      if (now > 1) this.#open.set(token, now - 1);
      else this.#open.delete(token);
    };
  }
}
