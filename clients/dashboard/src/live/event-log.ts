import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import type { Holdfast } from '@holdfast/client';
import { type Event, EventKind, HistoryOrder } from '@holdfast/proto/history';

/** What the timeline shows. */
const TOLD: readonly EventKind[] = [
  EventKind.LEASE_ACQUIRED,
  EventKind.LEASE_TAKEN_OVER,
  EventKind.LEASE_RELEASED,
  EventKind.LEASE_EXPIRED,
  EventKind.LEASE_REVOKED,
  EventKind.ACQUIRE_REFUSED,
  EventKind.WRITE_WARNED,
  EventKind.WRITE_REJECTED,
  EventKind.WRITE_OVERRIDDEN,
  EventKind.NOTE_ADDED,
  EventKind.TASK_QUARANTINED,
  EventKind.EXECUTION_ENDED,
  // For its title: the board no longer has it.
  EventKind.TASK_DELETED,
];

/** More are kept only while somebody pans back, and never more than the most. */
const KEPT = 20_000;
const MOST = 60_000;
const PAGE = 1_000;

/** A project's history of leases as far as it was read: an unbroken piece that ends now. */
export class EventLog {
  readonly #holdfast: Holdfast;
  readonly #project: string;
  /** Of deleted tasks. */
  readonly titles = new Map<string, string>();
  /** By rising position. */
  #events: Event[] = [];
  #pageToken = '';
  #complete = false;
  #loading: Promise<void> | undefined;
  /** How many are kept now. */
  #kept = KEPT;

  constructor(holdfast: Holdfast, project: string) {
    this.#holdfast = holdfast;
    this.#project = project;
  }

  get events(): readonly Event[] {
    return this.#events;
  }

  /** There is more in the history, and room for it. */
  get canGrow(): boolean {
    return !this.#complete && this.#events.length < MOST;
  }

  /** Takes in an event of the watch, unless it is none for the timeline or known. */
  add(event: Event): void {
    const last = this.#events.at(-1);
    if (!TOLD.includes(event.kind) || (last && last.position >= event.position)) return;
    this.#learnTitle(event);
    this.#events.push(event);
    // In blocks, so that not every event moves all others; and never while a page is read that is to be joined on.
    if (this.#events.length > this.#kept + PAGE && !this.#loading) this.#trim();
  }

  /** Nobody looks at what is older than usual any more: it may go. */
  forgetOlder(): void {
    this.#kept = KEPT;
  }

  /** Reads a page of what came before. */
  async loadOlder(): Promise<void> {
    if (this.#complete) return;
    this.#loading ??= this.#readPage().finally(() => {
      this.#loading = undefined;
      this.#kept = Math.max(KEPT, this.#events.length);
    });
    await this.#loading;
  }

  async #readPage(): Promise<void> {
    const oldest = this.#events[0];
    for (;;) {
      const { events, nextPageToken } = await this.#holdfast.history.listHistory({
        project: this.#project,
        kinds: [...TOLD],
        order: HistoryOrder.NEWEST_FIRST,
        pageSize: PAGE,
        pageToken: this.#pageToken,
        ...(this.#until && { until: timestampFromMs(this.#until) }),
      });
      this.#pageToken = nextPageToken;
      this.#complete = nextPageToken === '';
      const known = this.#events[0]?.position;
      const older = events.filter(({ position }) => known === undefined || position < known);
      for (const event of older) this.#learnTitle(event);
      this.#events = [...older.toReversed(), ...this.#events];
      // The watch may have told all of a page already.
      if (this.#complete || this.#events[0] !== oldest) return;
    }
  }

  #until: number | undefined;

  /** Drops what is too old: reading goes on from the oldest that is kept. */
  #trim(): void {
    for (const { taskId, kind } of this.#events.splice(0, this.#events.length - this.#kept)) {
      if (kind === EventKind.TASK_DELETED) this.titles.delete(taskId);
    }
    const at = this.#events[0]?.at;
    this.#until = at && timestampMs(at) + 1;
    this.#pageToken = '';
    this.#complete = false;
  }

  #learnTitle({ taskId, payload }: Event): void {
    if (payload.case === 'taskDeleted') this.titles.set(taskId, payload.value.title);
  }
}
