import type { EventKind } from '../domain/event.js';
import type { LiveLeases, LogEntry, WatchedLease } from '../store/watch-log.js';

const ENDS: ReadonlySet<EventKind> = new Set(['LEASE_RELEASED', 'LEASE_EXPIRED', 'LEASE_REVOKED']);

/** How many tellings are kept for those who are slow; who misses one hears of the next renewal. */
const KEPT = 16;
/** How many ends are remembered. */
const ENDS_KEPT = 4_096;

/** The newest renewals of one project's leases: without positions, and forgotten soon. */
export class LeaseStates {
  readonly #told: LiveLeases[] = [];
  readonly #ended = new Set<string>();
  #count = 0;

  /** How many tellings there were. */
  get count(): number {
    return this.#count;
  }

  /** Ends that watchers are told from now on. */
  ended(entries: readonly LogEntry[]): void {
    for (const { event } of entries) {
      if (ENDS.has(event.kind)) this.#ended.add(`${event.taskId} ${event.fencingToken}`);
    }
    for (const oldest of this.#ended) {
      if (this.#ended.size <= ENDS_KEPT) break;
      this.#ended.delete(oldest);
    }
  }

  /** Keeps renewed leases, but for those whose end was read meanwhile: nobody may be told of them after it. */
  push({ now, leases }: LiveLeases): boolean {
    const live = leases.filter(({ lease }) => !this.#ended.has(`${lease.taskId} ${lease.fencingToken}`));
    if (live.length === 0) return false;
    this.#told.push({ now, leases: live });
    this.#count++;
    if (this.#told.length > KEPT) this.#told.shift();
    return true;
  }

  /** The oldest telling that is kept behind the first `seen` ones, and how many there are up to it. */
  after(seen: number): (LiveLeases & { readonly seen: number }) | undefined {
    const oldest = this.#count - this.#told.length;
    const at = Math.max(seen, oldest);
    const found = this.#told[at - oldest];
    return found && { ...found, seen: at + 1 };
  }
}

/** The leases that pass, or the very same array when all do, so that what is made of it can be shared. */
export function passing(
  leases: readonly WatchedLease[],
  passes: (lease: WatchedLease) => boolean,
): readonly WatchedLease[] {
  const some = leases.filter(passes);
  return some.length === leases.length ? leases : some;
}
