import { setImmediate as nextTurn } from 'node:timers/promises';
import type { WatchFilter } from '../domain/watch-filter.js';
import { createBatcher } from '../store/batcher.js';
import type { Store } from '../store/store.js';
import { validTokens } from '../store/tokens.js';
import { type LogBounds, type LogPage, readBounds, readLogs, readSnapshot } from '../store/watch-log.js';
import type { Background, FaultListener } from './background.js';
import { createJointReads } from './joint-reads.js';
import { LeaseStates } from './lease-states.js';
import { type Batch, type LogLimits, ProjectLog } from './project-log.js';
import { createRenewalReader } from './renewal-reader.js';
import {
  type EndReason,
  type Followed,
  type News,
  type Place,
  WatchEnded,
  Watcher,
  type WatchObserver,
} from './watcher.js';

/** Spans are milliseconds. Every field has a default; tests set some of them short. */
export interface WatchOptions {
  /** Between two reads of the history when nobody hints at news. */
  readonly pollMs: number;
  /** Between two signs of life on a stream. */
  readonly checkpointMs: number;
  /** How long a stream may leave what it was told untaken. */
  readonly stallMs: number;
  /** Between two checks whether the tokens of open streams are still valid. */
  readonly tokenMs: number;
  /** What is kept of each watched project's history in memory. */
  readonly kept: LogLimits;
}

const DEFAULTS: WatchOptions = {
  pollMs: 1_000,
  checkpointMs: 15_000,
  stallMs: 30_000,
  tokenMs: 2_000,
  kept: { events: 4_096, bytes: 2 * 1024 * 1024 },
};

/** What one message carries at most; one larger event goes alone. */
const PAGE_EVENTS = 500;
const PAGE_BYTES = 256 * 1024;
const PAGE_LEASES = 250;

/** After a round, so many times as long as telling it took nothing is read: the rest of the time is for others. */
const REST_FACTOR = 2;
const LONGEST_REST_MS = 150;
/** How many watchers are told before others have a turn. */
const TOLD_AT_ONCE = 64;
/** How many reads of those who open a stream or are behind run at a time. */
const READS_AT_ONCE = 4;

interface OpenWatch {
  readonly project: string;
  readonly filter: WatchFilter;
  /** The caller's token. */
  readonly token: { readonly project: string; readonly id: string };
  /** Where to go on; undefined: with a snapshot. */
  readonly after: Place | undefined;
}

export interface WatchHub extends Background {
  /**
   * Opens a watch. The caller closes it.
   *
   * @throws WatchEnded when it cannot go on after that place
   */
  open(watch: OpenWatch): Promise<Watcher>;
  /** May be called twice. */
  close(watcher: Watcher): void;
  /** The history may have grown. */
  wake(): void;
  /** What replicas tell of renewed leases. */
  renewed(payload: string): void;
}

const UNOBSERVED: WatchObserver = { opened() {}, closed() {}, delivered() {} };

/**
 * Reads the history once for all watchers of this process, and tells them. Positions are what counts: hints only make
 * it look sooner, and whoever falls behind what is kept in memory reads on from the table.
 */
export function createWatchHub(
  store: Store,
  onFault: FaultListener,
  options: Partial<WatchOptions> = {},
  observer: WatchObserver = UNOBSERVED,
): WatchHub {
  const { pollMs, checkpointMs, stallMs, tokenMs, kept } = { ...DEFAULTS, ...options };
  const projects = new Map<string, Followed>();
  const checkpoints = new Map<Watcher, NodeJS.Timeout>();
  const jointly = createJointReads(READS_AT_ONCE);
  // Only by a read that begins after the question: an older one may not reach to a token of another replica.
  const boundsOf = createBatcher((names: readonly string[]) => readBounds(store, names));
  let reading: Promise<void> | undefined;
  let again = false;
  let later: NodeJS.Timeout | undefined;
  let restsUntil = 0;
  let stopped = false;

  const wake = () => {
    if (stopped || projects.size === 0 || later) return;
    if (reading) {
      again = true;
      return;
    }
    const rest = restsUntil - performance.now();
    if (rest <= 0) startReading();
    else later = setTimeout(startReading, rest);
  };
  const startReading = () => {
    later = undefined;
    again = false;
    reading = readAndTell()
      .catch((error) => onFault('reading the history for watchers', error))
      .finally(() => {
        reading = undefined;
        if (again) wake();
      });
  };

  const readAndTell = async () => {
    for (let more = true; more && !stopped; ) {
      const followed = [...projects.values()];
      if (followed.length === 0) return;
      const wanted = followed.map(({ project, log }) => ({ project, after: log.head }));
      const pages = await readLogs(store, wanted, PAGE_EVENTS, PAGE_BYTES);
      const readAt = performance.now();
      const grown = followed.filter((one, i) => append(one, pages[i] as LogPage, readAt));
      more = pages.some((page) => page.more);
      await tell(grown.flatMap(({ watchers }) => [...watchers]));
    }
  };

  /** Answers whether there is news for its watchers. */
  const append = (followed: Followed, page: LogPage, readAt: number): boolean => {
    const { log, states } = followed;
    const gap = gapAt(followed, log.head, page);
    if (gap?.kind === 'RESET') {
      for (const watcher of followed.watchers) watcher.end(gap);
      projects.delete(followed.project);
      return false;
    }
    // Who has not been told what lies before the gap finds out when it asks the database for it.
    if (gap?.kind === 'COMPACTED') log.jumpTo(gap.floor);
    const [oldest] = page.entries;
    if (!oldest) return gap !== undefined;
    const ageMs = (page.now - oldest.event.at) / 1_000;
    log.push(batchOf(log.head, page, { ageMs, readAt }));
    states.ended(page.entries);
    return true;
  };

  const tell = async (watchers: readonly Watcher[]) => {
    const began = performance.now();
    for (let i = 0; i < watchers.length; i += TOLD_AT_ONCE) {
      for (const watcher of watchers.slice(i, i + TOLD_AT_ONCE)) watcher.wake();
      await nextTurn();
    }
    const ended = performance.now();
    restsUntil = ended + Math.min(LONGEST_REST_MS, (ended - began) * REST_FACTOR);
  };

  const page = async (followed: Followed, position: bigint): Promise<Batch | EndReason> =>
    jointly(`page ${position} ${followed.project}`, async () => {
      const [found] = await readLogs(
        store,
        [{ project: followed.project, after: position }],
        PAGE_EVENTS,
        PAGE_BYTES,
      );
      const gap = gapAt(followed, position, found as LogPage);
      if (gap) return gap;
      // The log is ahead of this position, so there must be something.
      return found?.entries.length ? batchOf(position, found, undefined) : { kind: 'RESET' };
    });

  const follow = (project: string, { epoch, head }: LogBounds): Followed => {
    const known = projects.get(project);
    if (known?.epoch === epoch) return known;
    for (const watcher of known?.watchers ?? []) watcher.end({ kind: 'RESET' });
    const followed: Followed = {
      project,
      epoch,
      log: new ProjectLog(head, kept),
      states: new LeaseStates(),
      watchers: new Set(),
    };
    projects.set(project, followed);
    return followed;
  };

  /** Where a watch begins, and what it is told first. */
  const begin = async ({ project, filter, after }: OpenWatch) => {
    if (after) {
      const bounds = await boundsOf(project);
      const gap = gapAt(after, after.position, bounds);
      if (gap) throw new WatchEnded(gap, after);
      return { bounds, position: after.position, first: [{ kind: 'CHECKPOINT', at: after } satisfies News] };
    }
    const { leases, now, ...bounds } = await jointly(`snapshot ${keyOf(filter)} ${project}`, () =>
      readSnapshot(store, project, filter),
    );
    const first: News[] = [];
    for (let i = 0; i < leases.length; i += PAGE_LEASES) {
      first.push({ kind: 'SNAPSHOT', now, leases: leases.slice(i, i + PAGE_LEASES) });
    }
    const at = { project, epoch: bounds.epoch, position: bounds.head };
    return { bounds, position: bounds.head, first: [...first, { kind: 'SYNCED', at } satisfies News] };
  };

  const open = async (watch: OpenWatch): Promise<Watcher> => {
    const { bounds, position, first } = await begin(watch);
    const { filter, token } = watch;
    const followed = follow(watch.project, bounds);
    const watcher = new Watcher({ followed, filter, token, position, first, observer, page });
    followed.watchers.add(watcher);
    const timer = setInterval(() => watcher.checkpoint(), checkpointMs);
    timer.unref();
    checkpoints.set(watcher, timer);
    observer.opened();
    return watcher;
  };

  const close = (watcher: Watcher) => {
    const { followed } = watcher;
    followed.watchers.delete(watcher);
    if (followed.watchers.size === 0 && projects.get(followed.project) === followed) {
      projects.delete(followed.project);
    }
    const timer = checkpoints.get(watcher);
    if (!timer) return;
    clearInterval(timer);
    checkpoints.delete(watcher);
    observer.closed();
  };

  const endStalled = () => {
    const limit = performance.now() - stallMs;
    for (const watcher of checkpoints.keys()) {
      if (watcher.toldAt !== undefined && watcher.toldAt < limit) watcher.end({ kind: 'STALLED' });
    }
  };

  let checking: Promise<void> | undefined;
  const checkTokens = () => {
    if (checkpoints.size === 0) return;
    checking ??= endInvalid()
      .catch((error) => onFault('checking the tokens of watchers', error))
      .finally(() => {
        checking = undefined;
      });
  };
  const endInvalid = async () => {
    const watchers = [...checkpoints.keys()];
    const tokens = new Map(watchers.map(({ token }) => [tokenKey(token), token]));
    const valid = new Set((await validTokens(store, [...tokens.values()])).map(tokenKey));
    for (const watcher of watchers)
      if (!valid.has(tokenKey(watcher.token))) watcher.end({ kind: 'TOKEN_INVALID' });
  };

  const renewals = createRenewalReader(store, projects, (followed) => tell([...followed.watchers]), onFault);
  const timers = [
    setInterval(wake, pollMs),
    setInterval(endStalled, Math.min(1_000, stallMs / 4)),
    setInterval(checkTokens, tokenMs),
  ];
  for (const timer of timers) timer.unref();

  return {
    open,
    close,
    wake,
    renewed: renewals.hint,
    async stop() {
      stopped = true;
      for (const timer of timers) clearInterval(timer);
      clearTimeout(later);
      await Promise.all([reading, checking, renewals.stop()]);
    },
  };
}

/** Why nobody can go on after a position; undefined when all that follows is there. */
function gapAt(
  from: { readonly epoch: string },
  position: bigint,
  { epoch, head, floor }: LogBounds,
): EndReason | undefined {
  if (from.epoch !== epoch || position > head) return { kind: 'RESET' };
  return position < floor ? { kind: 'COMPACTED', floor } : undefined;
}

function batchOf(after: bigint, { entries }: LogPage, fresh: Batch['fresh']): Batch {
  return { after, last: entries.at(-1)?.event.position ?? after, entries, fresh };
}

const tokenKey = ({ project, id }: OpenWatch['token']) => `${id} ${project}`;

const keyOf = ({ taskIds, planId, principal, executionId }: WatchFilter) =>
  JSON.stringify([taskIds && [...taskIds], planId, principal, executionId]);
