import type { EventKind, EventPayloads } from '../domain/event.js';
import type { Micros } from '../domain/instant.js';
import type { PrincipalKind } from '../domain/principal.js';
import { intArray } from './arrays.js';
import { eventCodes, kindCodes } from './codes.js';
import type { Store } from './store.js';
import { maybeText, micros, type Row } from './task-row.js';

/** An event of the history. */
export type HistoryEvent = {
  [K in EventKind]: {
    readonly kind: K;
    readonly payload: EventPayloads[K];
    readonly position: bigint;
    readonly at: Micros;
    readonly project: string;
    readonly taskId: string | undefined;
    readonly actor: string | undefined;
    readonly actorKind: PrincipalKind | undefined;
    readonly executionId: string | undefined;
    readonly fencingToken: bigint | undefined;
    readonly repeats: number;
  };
}[EventKind];

export interface HistoryFilter {
  readonly taskId: string | undefined;
  readonly actor: string | undefined;
  readonly executionId: string | undefined;
  readonly kinds: readonly EventKind[];
  /** At or after. */
  readonly since: Micros | undefined;
  /** Before. */
  readonly until: Micros | undefined;
  readonly newestFirst: boolean;
}

/** A page of the history. */
export interface HistoryPage {
  /** The highest position that is no longer kept, when the page was read; 0: all are. */
  readonly floor: bigint;
  readonly events: readonly HistoryEvent[];
}

/** Events in the order of their positions, after (or, newest first, before) a position. */
export async function listHistory(
  { database: { sql } }: Store,
  project: string,
  { taskId, actor, executionId, kinds, since, until, newestFirst }: HistoryFilter,
  after: bigint | undefined,
  limit: number,
): Promise<HistoryPage> {
  const rows = await sql<Row[]>`
    SELECT head.floor, e.* FROM (
      SELECT coalesce((SELECT floor FROM history_head WHERE project = ${project}), 0) AS floor) head
    LEFT JOIN (SELECT * FROM event
    WHERE project = ${project} AND position IS NOT NULL
      ${taskId === undefined ? sql`` : sql`AND task_id = ${taskId}`}
      ${actor === undefined ? sql`` : sql`AND actor = ${actor}`}
      ${executionId === undefined ? sql`` : sql`AND execution_id = ${executionId}`}
      ${kinds.length === 0 ? sql`` : sql`AND kind = ANY(${intArray(sql, kinds.map(eventCodes.code))})`}
      ${since === undefined ? sql`` : sql`AND at >= ${since}`}
      ${until === undefined ? sql`` : sql`AND at < ${until}`}
      ${after === undefined ? sql`` : newestFirst ? sql`AND position < ${after}` : sql`AND position > ${after}`}
    ORDER BY position ${newestFirst ? sql`DESC` : sql`ASC`} LIMIT ${limit}) e ON true
    ORDER BY e.position ${newestFirst ? sql`DESC` : sql`ASC`}`;
  return {
    floor: rows[0]?.floor as bigint,
    events: rows.filter(({ position }) => position !== null).map(eventOf),
  };
}

/** An event from its columns, in the history or where it is kept apart from it. */
export function eventOf(row: Row): HistoryEvent {
  return {
    kind: eventCodes.name(row.kind as number),
    payload: row.payload,
    position: row.position,
    at: micros(row.at),
    project: row.project,
    taskId: maybeText(row.task_id),
    actor: maybeText(row.actor),
    actorKind: row.actor_kind === null ? undefined : kindCodes.name(row.actor_kind as number),
    executionId: maybeText(row.execution_id),
    fencingToken: (row.fencing_token as bigint | null) ?? undefined,
    repeats: row.repeats,
  } as HistoryEvent;
}

/**
 * Numbers committed events that have no position yet, at most `batch`, in one call.
 *
 * @returns how many it numbered; a full batch means that there may be more
 */
export async function numberEvents({ database: { hot: sql } }: Store, batch: number): Promise<number> {
  const [row] = await sql<{ numbered: number }[]>`SELECT holdfast_sequence(${batch}) AS numbered`;
  return row?.numbered ?? 0;
}

/** For how many microseconds the oldest committed event has been waiting for its position; 0: none waits. */
export async function sequencerLag({ database: { sql } }: Store): Promise<Micros> {
  const [row] = await sql<Row[]>`
    SELECT holdfast_now() - at AS waited FROM event WHERE position IS NULL ORDER BY id LIMIT 1`;
  return Math.max(0, micros(row?.waited ?? 0));
}
