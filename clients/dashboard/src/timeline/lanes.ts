import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Holder } from '@holdfast/proto/guard';
import { type Event, EventKind, LeaseEndCause } from '@holdfast/proto/history';
import type { HeldLease } from '../live/board.js';

/** How a lease stands or ended; each is drawn in a shape and colour of its own. */
export type BarEnd = 'live' | 'released' | 'completed' | 'expired' | 'revoked';

/** One lease. Times in server milliseconds. */
export interface Bar {
  readonly key: string;
  readonly lane: string;
  readonly taskId: string;
  readonly fencingToken: bigint;
  readonly startMs: number;
  /** False: it was granted before what was read of the history. */
  readonly startKnown: boolean;
  end: BarEnd;
  /** When it ended; of a live one, its deadline. */
  endMs: number;
  /** The lane of whoever held it before, when it was taken over. */
  readonly takenFrom: string | undefined;
  readonly attempt: number;
  /** Of the event that ended it, else that granted it. */
  event: Event | undefined;
  /** Which row of its lane it is in, from 0. */
  row: number;
}

/** Something that happened at one moment. */
export interface Mark {
  readonly key: string;
  readonly kind: 'refused' | 'rejected' | 'warned' | 'overridden' | 'note';
  readonly lane: string;
  /** The lane of the holder that stood in the way. */
  readonly against: string | undefined;
  readonly taskId: string;
  readonly atMs: number;
  readonly event: Event;
}

/** Everything of one holder. */
export interface Lane {
  readonly key: string;
  readonly principal: string;
  readonly executionId: string;
  readonly bars: Bar[];
  readonly marks: Mark[];
  /** How many leases it held at once at most, among those shown. */
  rows: number;
}

const laneKey = (principal: string, executionId: string): string => `${principal}\n${executionId}`;
const holderLane = (holder: Holder | undefined): string | undefined =>
  holder && laneKey(holder.principal, holder.executionId);

const MARKS: ReadonlyMap<EventKind, Mark['kind']> = new Map([
  [EventKind.ACQUIRE_REFUSED, 'refused'],
  [EventKind.WRITE_REJECTED, 'rejected'],
  [EventKind.WRITE_WARNED, 'warned'],
  [EventKind.WRITE_OVERRIDDEN, 'overridden'],
  [EventKind.NOTE_ADDED, 'note'],
]);

/**
 * Draws up the lanes from the history, oldest first, and from the leases that are live now.
 *
 * @param readFromMs when the oldest event that was read happened: leases that began before are cut off there
 */
export function drawUp(
  events: readonly Event[],
  leases: ReadonlyMap<string, HeldLease>,
  readFromMs: number,
): { bars: Bar[]; marks: Mark[] } {
  const bars = new Map<string, Bar>();
  const marks: Mark[] = [];
  for (const event of events) {
    const atMs = event.at ? timestampMs(event.at) : 0;
    const { payload, taskId, fencingToken } = event;
    const key = `${taskId} ${fencingToken}`;
    const kind = MARKS.get(event.kind);
    if (payload.case === 'leaseGranted') {
      const { holder, attempt, expiresAt, previousHolder } = payload.value;
      bars.set(key, {
        key,
        lane: holderLane(holder) ?? '',
        taskId,
        fencingToken,
        startMs: atMs,
        startKnown: true,
        end: 'live',
        endMs: expiresAt ? timestampMs(expiresAt) : atMs,
        takenFrom: event.kind === EventKind.LEASE_TAKEN_OVER ? holderLane(previousHolder) : undefined,
        attempt,
        event,
        row: 0,
      });
    } else if (payload.case === 'leaseEnded') {
      const { holder, cause } = payload.value;
      const bar = bars.get(key) ?? cutOff(key, holderLane(holder) ?? '', event, readFromMs);
      bar.end = endOf(event.kind, cause);
      bar.endMs = atMs;
      bar.event = event;
      bars.set(key, bar);
    } else if (kind) {
      const against =
        payload.case === 'acquireRefused' || payload.case === 'guardedWrite'
          ? payload.value.holder
          : undefined;
      const lane = laneKey(event.actor, event.executionId);
      marks.push({
        key: String(event.position),
        kind,
        lane,
        against: holderLane(against),
        taskId,
        atMs,
        event,
      });
    }
  }
  for (const lease of leases.values()) drawLive(bars, lease);
  return { bars: [...bars.values()], marks };
}

function cutOff(key: string, lane: string, event: Event, startMs: number): Bar {
  const { taskId, fencingToken } = event;
  const unknown = { startKnown: false, takenFrom: undefined, attempt: 0, row: 0 };
  return { key, lane, taskId, fencingToken, startMs, end: 'released', endMs: startMs, event, ...unknown };
}

function endOf(kind: EventKind, cause: LeaseEndCause): BarEnd {
  if (kind === EventKind.LEASE_EXPIRED) return 'expired';
  if (kind === EventKind.LEASE_REVOKED) return 'revoked';
  return cause === LeaseEndCause.COMPLETED ? 'completed' : 'released';
}

function drawLive(bars: Map<string, Bar>, lease: HeldLease): void {
  const key = `${lease.taskId} ${lease.fencingToken}`;
  const known = bars.get(key);
  if (known) {
    if (known.end === 'live') known.endMs = lease.expiresAtMs;
    return;
  }
  bars.set(key, {
    key,
    lane: holderLane(lease.holder) ?? '',
    taskId: lease.taskId,
    fencingToken: lease.fencingToken,
    startMs: lease.grantedAtMs,
    startKnown: true,
    end: 'live',
    endMs: lease.expiresAtMs,
    takenFrom: undefined,
    attempt: lease.attempt,
    event: undefined,
    row: 0,
  });
}

/** More leases than this are a blur, and slow. */
const MOST = 1_500;

/**
 * The lanes that have something between two moments, in the order in which their holders first appeared; and how many
 * leases were left out, the oldest, because there are too many to tell apart.
 */
export function lanesBetween(
  { bars, marks }: { bars: readonly Bar[]; marks: readonly Mark[] },
  fromMs: number,
  toMs: number,
): { lanes: Lane[]; leftOut: number } {
  const within = bars.filter((bar) => bar.startMs <= toMs && bar.endMs >= fromMs);
  const shownBars = new Set(
    within.length > MOST ? within.sort((a, b) => b.startMs - a.startMs).slice(0, MOST) : within,
  );
  const lanes = new Map<string, Lane & { firstMs: number }>();
  const laneOf = (key: string, atMs: number) => {
    const [principal = '', executionId = ''] = key.split('\n');
    const lane = lanes.get(key) ?? {
      key,
      principal,
      executionId,
      bars: [],
      marks: [],
      rows: 1,
      firstMs: atMs,
    };
    lane.firstMs = Math.min(lane.firstMs, atMs);
    lanes.set(key, lane);
    return lane;
  };
  for (const bar of bars) {
    const lane = laneOf(bar.lane, bar.startMs);
    if (shownBars.has(bar)) lane.bars.push(bar);
  }
  for (const mark of marks) {
    const lane = laneOf(mark.lane, mark.atMs);
    if (mark.atMs >= fromMs && mark.atMs <= toMs) lane.marks.push(mark);
  }
  const shown = [...lanes.values()].filter((lane) => lane.bars.length > 0 || lane.marks.some(inTheWay));
  for (const lane of shown) lane.rows = stack(lane.bars);
  return { lanes: shown.sort((a, b) => a.firstMs - b.firstMs), leftOut: within.length - shownBars.size };
}

/** A note alone, such as a person's, makes no lane. */
const inTheWay = ({ kind }: Mark): boolean => kind !== 'note';

/** Gives each bar the first row that is free when it begins. Returns how many rows there are. */
function stack(bars: Bar[]): number {
  const freeFrom: number[] = [];
  for (const bar of bars.sort((a, b) => a.startMs - b.startMs)) {
    const free = freeFrom.findIndex((ms) => ms <= bar.startMs);
    bar.row = free < 0 ? freeFrom.length : free;
    freeFrom[bar.row] = bar.endMs;
  }
  return Math.max(1, freeFrom.length);
}
