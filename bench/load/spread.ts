/** Milliseconds of a call: of a round each, and the median over the rounds, so that a burst of noise counts once. */
export interface Spread {
  readonly p50: number;
  readonly p99: number;
}

/** Collects the times of many calls, round by round. */
export class Rounds {
  readonly #rounds: number[][] = [];

  begin(): void {
    this.#rounds.push([]);
  }

  add(milliseconds: number): void {
    this.#rounds.at(-1)?.push(milliseconds);
  }

  spread(): Spread {
    const sorted = this.#rounds.map((times) => times.toSorted((a, b) => a - b));
    const of = (share: number) =>
      at(
        sorted.map((times) => at(times, share)).toSorted((a, b) => a - b),
        0.5,
      );
    return { p50: of(0.5), p99: of(0.99) };
  }
}

const at = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
