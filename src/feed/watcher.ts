import type { Micros } from '../domain/instant.js';
import { passesEvent, passesLease, type WatchFilter } from '../domain/watch-filter.js';
import type { LogEntry, WatchedLease } from '../store/watch-log.js';
import { type LeaseStates, passing } from './lease-states.js';
import type { Batch, ProjectLog } from './project-log.js';

/** A place in a project's history, as resume tokens say it. */
export interface Place {
  readonly epoch: string;
  readonly project: string;
  readonly position: bigint;
}

interface ToldLeases {
  /** By the database's clock, when they were read. */
  readonly now: Micros;
  readonly leases: readonly WatchedLease[];
}

/** What a watcher is told next. */
export type News =
  /** Live leases at the start. */
  | ({ readonly kind: 'SNAPSHOT' } & ToldLeases)
  /** The start is complete. */
  | { readonly kind: 'SYNCED'; readonly at: Place }
  | { readonly kind: 'EVENTS'; readonly entries: readonly LogEntry[]; readonly at: Place }
  /** All up to here was told. */
  | { readonly kind: 'CHECKPOINT'; readonly at: Place }
  /** Renewed leases. */
  | ({ readonly kind: 'LEASES' } & ToldLeases);

export type EndReason =
  /** Events that it has not been told are no longer kept. */
  | { readonly kind: 'COMPACTED'; readonly floor: bigint }
  /** The database is another one, or was set back. */
  | { readonly kind: 'RESET' }
  /** It took too long to take what it was told. */
  | { readonly kind: 'STALLED' }
  /** The token that it was opened with is no longer valid. */
  | { readonly kind: 'TOKEN_INVALID' }
  /** Its caller is gone, its deadline has passed, or the server stops. */
  | { readonly kind: 'CALLED_OFF'; readonly why: unknown };

/** A watch is over; `at`: all up to there was told. */
export class WatchEnded extends Error {
  override readonly name = 'WatchEnded';
  constructor(
    readonly reason: EndReason,
    readonly at: Place,
  ) {
    super(`the watch ended: ${reason.kind}`);
  }
}

/** One project's history and renewals, as all its watchers in this process see them. */
export interface Followed {
  readonly project: string;
  readonly epoch: string;
  readonly log: ProjectLog;
  readonly states: LeaseStates;
  readonly watchers: Set<Watcher>;
}

/** Told of what watchers are given. */
export interface WatchObserver {
  opened(): void;
  closed(): void;
  /** Events were handed to a stream; `lagMs`: how long after they happened, for those that just did. */
  delivered(events: number, lagMs: number | undefined): void;
}

interface WatcherOptions {
  readonly followed: Followed;
  readonly filter: WatchFilter;
  /** The token that it was opened with. */
  readonly token: { readonly project: string; readonly id: string };
  readonly position: bigint;
  /** What it is told before anything else. */
  readonly first: News[];
  readonly observer: WatchObserver;
  /** Reads what the log no longer has. */
  readonly page: (followed: Followed, position: bigint) => Promise<Batch | EndReason>;
}

/**
 * One open watch: a position in the shared log, and what it is to be told. It holds no events of its own, so one that
 * is never read costs no more than any other.
 */
export class Watcher {
  readonly followed: Followed;
  readonly token: WatcherOptions['token'];
  readonly #filter: WatchFilter;
  readonly #observer: WatchObserver;
  readonly #page: WatcherOptions['page'];
  readonly #first: News[];
  #position: bigint;
  #statesSeen: number;
  #checkpointDue = false;
  #end: EndReason | undefined;
  #wake: (() => void) | undefined;
  #toldAt: number | undefined;

  constructor({ followed, filter, token, position, first, observer, page }: WatcherOptions) {
    this.followed = followed;
    this.token = token;
    this.#filter = filter;
    this.#position = position;
    this.#statesSeen = followed.states.count;
    this.#first = first;
    this.#observer = observer;
    this.#page = page;
  }

  /** Since when its reader has not asked for more, by `performance.now()`; undefined while it waits for news. */
  get toldAt(): number | undefined {
    return this.#toldAt;
  }

  /** All up to here was told. */
  get place(): Place {
    const { project, epoch } = this.followed;
    return { project, epoch, position: this.#position };
  }

  /** Looks again whether there is something to tell. */
  wake(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  /** A sign of life is due. */
  checkpoint(): void {
    this.#checkpointDue = true;
    this.wake();
  }

  /** Ends it at its next `next`. The first reason counts. */
  end(reason: EndReason): void {
    this.#end ??= reason;
    this.wake();
  }

  /**
   * Waits for what is to be told next.
   *
   * @throws WatchEnded
   */
  async next(): Promise<News> {
    this.#toldAt = undefined;
    const news = await this.#find();
    this.#toldAt = performance.now();
    return news;
  }

  async #find(): Promise<News> {
    for (;;) {
      if (this.#end) throw new WatchEnded(this.#end, this.place);
      const first = this.#first.shift();
      if (first) return first;
      if (this.#checkpointDue) {
        this.#checkpointDue = false;
        return { kind: 'CHECKPOINT', at: this.place };
      }
      const batch = this.followed.log.after(this.#position);
      if (batch === 'BEHIND') {
        const page = await this.#page(this.followed, this.#position);
        if ('kind' in page) this.end(page);
        else if (!this.#end) {
          const news = this.#take(page);
          if (news) return news;
        }
      } else if (batch === 'NOTHING') {
        const renewed = this.#renewed();
        if (renewed) return renewed;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      } else {
        const news = this.#take(batch);
        if (news) return news;
      }
    }
  }

  /** Goes on behind a batch, and tells what passes of it. */
  #take({ entries, last, fresh }: Batch): News | undefined {
    this.#position = last;
    const some = entries.filter(({ event, planId }) => passesEvent(this.#filter, event, planId));
    if (some.length === 0) return undefined;
    this.#observer.delivered(some.length, fresh && fresh.ageMs + (performance.now() - fresh.readAt));
    // The very same array for all who are told all of it: what is made of it is shared.
    return { kind: 'EVENTS', entries: some.length === entries.length ? entries : some, at: this.place };
  }

  #renewed(): News | undefined {
    for (;;) {
      const told = this.followed.states.after(this.#statesSeen);
      if (!told) return undefined;
      this.#statesSeen = told.seen;
      const leases = passing(told.leases, ({ lease, planId }) => passesLease(this.#filter, lease, planId));
      if (leases.length > 0) return { kind: 'LEASES', now: told.now, leases };
    }
  }
}
