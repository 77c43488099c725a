import type { LogEntry } from '../store/watch-log.js';

/** Events in the order of their positions: all that there are behind `after`, up to `last`. */
export interface Batch {
  readonly after: bigint;
  readonly last: bigint;
  readonly entries: readonly LogEntry[];
  /** How old its oldest event was when it was read, in ms, and when that was; undefined for old ones. */
  readonly fresh: { readonly ageMs: number; readonly readAt: number } | undefined;
}

export interface LogLimits {
  /** How many events are kept in memory, and about how many bytes of them. */
  readonly events: number;
  readonly bytes: number;
}

/**
 * The newest part of one project's history, in memory: whoever reads at its pace reads from here, and all of them
 * the same batches, so that what is made of a batch can be kept for the others.
 */
export class ProjectLog {
  readonly #limits: LogLimits;
  readonly #batches: Batch[] = [];
  #events = 0;
  #bytes = 0;
  #head: bigint;

  constructor(head: bigint, limits: LogLimits) {
    this.#head = head;
    this.#limits = limits;
  }

  /** The last position that was read. */
  get head(): bigint {
    return this.#head;
  }

  /** Appends what follows the head. */
  push(batch: Batch): void {
    this.#batches.push(batch);
    this.#head = batch.last;
    this.#events += batch.entries.length;
    this.#bytes += bytesOf(batch);
    while (
      this.#batches.length > 1 &&
      (this.#events > this.#limits.events || this.#bytes > this.#limits.bytes)
    ) {
      const oldest = this.#batches.shift() as Batch;
      this.#events -= oldest.entries.length;
      this.#bytes -= bytesOf(oldest);
    }
  }

  /** Goes on behind a gap: who has not read up to there finds out from the database. */
  jumpTo(position: bigint): void {
    this.#batches.length = 0;
    this.#events = 0;
    this.#bytes = 0;
    this.#head = position;
  }

  /** What follows a position. `BEHIND`: only the database still has it. */
  after(position: bigint): Batch | 'NOTHING' | 'BEHIND' {
    if (position >= this.#head) return 'NOTHING';
    for (let i = this.#batches.length - 1; i >= 0; i--) {
      const batch = this.#batches[i] as Batch;
      if (batch.after <= position) return batch.after === position ? batch : restOf(batch, position);
    }
    return 'BEHIND';
  }
}

const bytesOf = ({ entries }: Batch) => entries.reduce((sum, { bytes }) => sum + bytes, 0);

function restOf(batch: Batch, position: bigint): Batch {
  const entries = batch.entries.filter(({ event }) => event.position > position);
  return { ...batch, after: position, entries };
}
