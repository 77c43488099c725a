import { Code, ConnectError } from '@connectrpc/connect';
import { explain, type Holdfast, type WatchConnection, type WatchNews, watch } from '@holdfast/client';
import { type Event, EventKind, HistoryOrder } from '@holdfast/proto/history';
import type { Project } from '@holdfast/proto/project';
import type { Task } from '@holdfast/proto/task';
import { Board } from './board.js';
import { EventLog } from './event-log.js';
import { pages } from './pages.js';
import { ServerClock } from './server-clock.js';
import { TaskReader } from './task-reader.js';

/** How the page stands to the server. */
export type Connection =
  | { readonly state: 'connecting' }
  /** Nobody looks: there is no stream until somebody does. */
  | { readonly state: 'resting' }
  /** `behind`: how many events are still on their way. */
  | { readonly state: 'live'; readonly behind: number }
  | {
      readonly state: 'reconnecting';
      readonly attempt: number;
      readonly retryAtMs: number;
      readonly why: string;
    }
  /** The server refused for good; `signedOut`: because it does not know the token any more. */
  | { readonly state: 'ended'; readonly why: string; readonly signedOut: boolean };

const PAGE = 1_000;
const FIRST_PAGE = 100;
/** The renewals of this many leases are kept, those that were renewed last. */
const RENEWED_LEASES = 2_000;
/** News are gathered this long before the page is drawn anew. In ms. */
const GATHER_MS = 60;

/** One project, live: what a page shows of it, kept up to date by one watch that resumes by itself. */
export class ProjectLive {
  readonly board = new Board();
  readonly clock = new ServerClock();
  readonly project: string;
  readonly holdfast: Holdfast;
  log: EventLog;
  about: Project | undefined;
  connection: Connection = { state: 'connecting' };
  /** Renewals that were seen, by task and fencing token: the history does not keep them. In server milliseconds. */
  readonly renewals = new Map<string, number[]>();
  /** How much of the board is read: complete, or how many tasks so far. */
  loaded: 'all' | number = 0;
  /** Counts up with every change, for React. */
  version = 0;
  readonly #ended = new AbortController();
  /** Aborted while nobody looks, and made anew. */
  #awake = new AbortController();
  #watching: Promise<void> = Promise.resolve();
  /** All up to here was told; absent: nothing yet. */
  #resumeAfter: string | undefined;
  /** Leases may have been renewed while there was no stream. */
  #missedRenewals = false;
  readonly #listeners = new Set<() => void>();
  readonly #eventListeners = new Set<(event: Event) => void>();
  readonly #reader: TaskReader;
  #position = 0n;
  #head = 0n;
  #emitting: ReturnType<typeof setTimeout> | undefined;
  #loads = 0;

  /** @param project its id; empty: the token's */
  constructor(holdfast: Holdfast, project: string) {
    this.holdfast = holdfast;
    this.project = project;
    this.log = new EventLog(holdfast, project);
    this.#reader = new TaskReader(
      holdfast,
      project,
      this.board,
      () => this.#changed(),
      () => this.#readTasks(() => !this.#ended.signal.aborted),
    );
  }

  /** Begins to watch; {@link stop} ends it. */
  start(): void {
    const { signal } = this.#awake;
    // One that is being let go of has first to take in what it was told.
    this.#watching = this.#watching.then(() => this.#watch(signal));
  }

  /** Lets go of the stream: a browser has few connections to a server without TLS, and each takes one. */
  rest(): void {
    if (this.connection.state === 'ended') return;
    this.#awake.abort();
    this.connection = { state: 'resting' };
    this.#changed();
  }

  /** Goes on where it rested, and misses nothing. */
  wake(): void {
    if (this.connection.state !== 'resting') return;
    this.#awake = new AbortController();
    this.connection = { state: 'connecting' };
    this.#changed();
    this.start();
  }

  stop(): void {
    this.#ended.abort();
    this.#awake.abort();
    this.#reader.stop();
    clearTimeout(this.#emitting);
    this.#listeners.clear();
    this.#eventListeners.clear();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Calls back for each event as it comes. */
  onEvent(listener: (event: Event) => void): () => void {
    this.#eventListeners.add(listener);
    return () => this.#eventListeners.delete(listener);
  }

  /** Reads a task again, and its newest note. */
  read(taskId: string): void {
    this.#reader.read(taskId);
  }

  /** A task's title; of one that is deleted, as its deletion told it; else its id. */
  titleOf(taskId: string): string {
    return this.board.tasks.get(taskId)?.title ?? this.log.titles.get(taskId) ?? taskId;
  }

  /** A task as a write answered it. */
  learn(task: Task | undefined): void {
    if (!task) return;
    this.board.tasks.set(task.id, task);
    this.#changed();
  }

  /** Reads a page of older history. */
  async loadOlder(): Promise<void> {
    await this.log.loadOlder();
    this.#changed();
  }

  /** Reads the project's title and settings again. */
  async readAbout(): Promise<void> {
    const { project } = await this.holdfast.projects.getProject({ project: this.project });
    this.about = project;
    this.#changed();
  }

  async #watch(signal: AbortSignal): Promise<void> {
    try {
      const news = watch(this.holdfast, {
        project: this.project,
        signal,
        ...(this.#resumeAfter !== undefined && { resumeAfter: this.#resumeAfter }),
        onConnection: (connection) => {
          if (!signal.aborted) this.#connected(connection);
        },
      });
      for await (const one of news) this.#hear(one);
    } catch (error) {
      const signedOut = ConnectError.from(error).code === Code.Unauthenticated;
      this.connection = { state: 'ended', why: explain(error), signedOut };
      this.#changed();
    }
  }

  #connected(connection: WatchConnection): void {
    if (connection.state === 'live') {
      this.connection = { state: 'live', behind: 0 };
      void this.#readHead(this.#resumeAfter !== undefined);
    } else if (connection.state === 'waiting') {
      const retryAtMs = Date.now() + connection.inMs;
      const why = connection.error ? explain(connection.error) : 'The connection was cut.';
      this.connection = { state: 'reconnecting', attempt: connection.attempt, retryAtMs, why };
    } else if (this.connection.state === 'live') {
      this.connection = { state: 'connecting' };
    }
    this.#changed();
  }

  #hear(news: WatchNews): void {
    switch (news.kind) {
      case 'snapshot':
        this.clock.hearLeases(news.leases);
        this.board.setLeases(news.leases);
        this.#resumeAfter = news.resumeToken;
        this.#missedRenewals = false;
        void this.#load();
        break;
      case 'checkpoint':
        this.#resumeAfter = news.resumeToken;
        return;
      case 'renewed':
        this.clock.hearLeases(news.leases);
        this.board.renew(news.leases);
        for (const lease of news.leases) this.#renewed(lease.taskId, lease.fencingToken);
        break;
      case 'event':
        this.#happened(news.event);
        break;
      case 'gap':
        // A snapshot follows, and with it everything is read anew.
        this.#resumeAfter = undefined;
        this.#position = 0n;
        this.#head = 0n;
        this.log = new EventLog(this.holdfast, this.project);
        break;
    }
    this.#changed();
  }

  #happened(event: Event): void {
    this.#position = event.position;
    if (this.#head < event.position) this.#head = event.position;
    this.#tellBehind();
    this.clock.hearEvent(event.at);
    this.#reader.touch(event.taskId);
    for (const taskId of this.board.apply(event)) this.#reader.read(taskId);
    this.log.add(event);
    if (event.kind === EventKind.SETTINGS_CHANGED) this.readAbout().catch(() => {});
    for (const listener of this.#eventListeners) listener(event);
  }

  #renewed(taskId: string, fencingToken: bigint): void {
    const key = `${taskId} ${fencingToken}`;
    const known = this.renewals.get(key) ?? [];
    // Anew at the end: the first is the one that was not renewed for longest.
    this.renewals.delete(key);
    this.renewals.set(key, [...known.slice(-199), this.clock.now()]);
    const [oldest] = this.renewals.keys();
    if (this.renewals.size > RENEWED_LEASES && oldest !== undefined) this.renewals.delete(oldest);
  }

  /** Everything that the watch does not tell: tasks, plans, settings and what happened before. */
  async #load(): Promise<void> {
    const load = ++this.#loads;
    const current = () => load === this.#loads && !this.#ended.signal.aborted;
    this.loaded = 0;
    for (let pauseMs = 500; current(); pauseMs = Math.min(pauseMs * 2, 10_000)) {
      try {
        await Promise.all([
          this.readAbout(),
          this.#readPlans(),
          this.log.loadOlder(),
          this.#readTasks(current),
        ]);
        if (current()) this.loaded = 'all';
        this.#changed();
        return;
      } catch {
        // The server went away meanwhile: the connection says so.
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
  }

  async #readTasks(current: () => boolean): Promise<void> {
    const found = new Set<string>();
    const list = async (pageToken: string) => {
      const since = this.#reader.mark();
      // The first page is small, so that there is something to look at soon.
      const pageSize = pageToken === '' ? FIRST_PAGE : PAGE;
      const page = await this.holdfast.tasks.listTasks({ project: this.project, pageSize, pageToken });
      return { ...page, since };
    };
    for await (const { tasks, since } of pages(list)) {
      if (!current()) return;
      for (const task of tasks) {
        found.add(task.id);
        this.#reader.take(task, since);
      }
      if (this.loaded !== 'all') this.loaded = found.size;
      this.#changed();
    }
    // What was known and is gone, after a gap; but not what was created meanwhile.
    for (const id of this.board.tasks.keys()) if (!found.has(id)) this.#reader.read(id);
  }

  async #readPlans(): Promise<void> {
    const list = (pageToken: string) =>
      this.holdfast.tasks.listPlans({ project: this.project, pageSize: PAGE, pageToken });
    for await (const { plans } of pages(list)) {
      for (const plan of plans) this.board.plans.set(plan.id, plan);
    }
  }

  /**
   * How far the history has come, to know how far behind this page is.
   *
   * @param resumed there was no stream for a while
   */
  async #readHead(resumed: boolean): Promise<void> {
    const { events } = await this.holdfast.history
      .listHistory({ project: this.project, order: HistoryOrder.NEWEST_FIRST, pageSize: 1 })
      .catch(() => ({ events: [] }));
    const head = events[0]?.position ?? 0n;
    if (this.#position === 0n) this.#position = head;
    if (head > this.#head) this.#head = head;
    // Those of leases that are still to be told of are read once they were.
    this.#missedRenewals ||= resumed;
    this.#tellBehind();
    this.#changed();
  }

  #tellBehind(): void {
    if (this.connection.state !== 'live') return;
    const behind = Math.max(0, Number(this.#head - this.#position));
    this.connection = { state: 'live', behind };
    if (behind === 0 && this.#missedRenewals) void this.#readDeadlines().catch(() => {});
  }

  /** A renewal is no event: one that was missed is told by the lease alone. */
  async #readDeadlines(): Promise<void> {
    this.#missedRenewals = false;
    const list = (pageToken: string) =>
      this.holdfast.leases.listLeases({ project: this.project, pageSize: PAGE, pageToken });
    for await (const { leases } of pages(list)) {
      this.board.renew(leases);
      this.#changed();
    }
  }

  #changed(): void {
    this.version += 1;
    this.#emitting ??= setTimeout(() => {
      this.#emitting = undefined;
      for (const listener of this.#listeners) listener();
    }, GATHER_MS);
  }
}
