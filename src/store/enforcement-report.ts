import type { Tally } from '../domain/enforcement-report.js';
import type { WriteCode } from '../domain/event.js';
import { DAY, type Micros } from '../domain/instant.js';
import { eventCodes } from './codes.js';
import type { Store } from './store.js';
import { micros, type Row } from './task-row.js';

/** Warned writes of one principal, verdict and RPC on one day. */
interface WarnedWrites {
  readonly principal: string;
  readonly code: WriteCode;
  readonly rpc: string;
  /** `YYYY-MM-DD`, in UTC. */
  readonly day: string;
  readonly writes: number;
}

export interface GuardCounts {
  /** By the clock of the read. */
  readonly now: Micros;
  /** As asked for, or later: from when on the history is kept. */
  readonly since: Micros;
  /** Newest day first, then the most writes first, at most {@link MAX_LINES}. */
  readonly lines: readonly WarnedWrites[];
  /** Of all lines, shown or not. */
  readonly warned: Tally;
  readonly rejected: Tally;
}

/** How far back the report goes unless told otherwise. */
const DEFAULT_SPAN: Micros = 7 * DAY;

/** What one answer can carry. A principal, verdict, RPC and day make a line, so it takes hundreds of principals. */
const MAX_LINES = 10_000;

/**
 * Counts what the write guard found fault with, repeats included.
 *
 * @param since from when on; undefined: the last seven days
 */
export async function countGuardFindings(
  { database: { sql } }: Store,
  project: string,
  since: Micros | undefined,
): Promise<GuardCounts> {
  const rows = await sql<Row[]>`
    WITH span AS MATERIALIZED (
      -- Of what is no longer kept, nothing is said.
      SELECT t AS now, greatest(coalesce(${since ?? null}::bigint, t - ${DEFAULT_SPAN}::bigint), (
        SELECT coalesce((
          SELECT at FROM event e WHERE e.project = h.project AND e.position > h.floor ORDER BY e.position LIMIT 1), t)
        FROM history_head h WHERE h.project = ${project} AND h.floor > 0)) AS since
      FROM (SELECT holdfast_now() AS t) clock
    ), line AS MATERIALIZED (
      SELECT e.kind, e.actor, e.payload->>'code' AS code, e.payload->>'rpc' AS rpc, e.at / ${DAY}::bigint AS day,
        sum(1 + e.repeats)::bigint AS writes
      FROM span, event e
      WHERE e.project = ${project} AND e.kind IN (21, 22) AND e.at >= span.since
      GROUP BY 1, 2, 3, 4, 5
    ), whole AS (
      SELECT kind, sum(writes)::bigint AS writes, count(DISTINCT actor) AS principals FROM line GROUP BY kind
    ), most AS (
      SELECT DISTINCT ON (kind) kind, actor, code, rpc, sum(writes)::bigint AS writes FROM line
      GROUP BY kind, actor, code, rpc ORDER BY kind, writes DESC, actor, code, rpc
    ), shown AS (
      SELECT 'LINE' AS row, kind, actor, code, rpc, day, writes, NULL::bigint AS principals FROM (
        SELECT * FROM line WHERE kind = 21 ORDER BY day DESC, writes DESC, actor, code, rpc LIMIT ${MAX_LINES}) l
      UNION ALL SELECT 'WHOLE', kind, NULL, NULL, NULL, NULL, writes, principals FROM whole
      UNION ALL SELECT 'MOST', kind, actor, code, rpc, NULL, writes, NULL FROM most
    )
    SELECT span.now, span.since, shown.* FROM span LEFT JOIN shown ON true
    ORDER BY row, kind, day DESC, writes DESC, actor, code, rpc`;
  return {
    now: micros(rows[0]?.now),
    since: micros(rows[0]?.since),
    lines: rows
      .filter(({ row }) => row === 'LINE')
      .map((row) => ({ ...writesOf(row), day: dayOf(row.day as bigint) })),
    warned: tallyOf(rows, eventCodes.code('WRITE_WARNED')),
    rejected: tallyOf(rows, eventCodes.code('WRITE_REJECTED')),
  };
}

function tallyOf(rows: readonly Row[], kind: number): Tally {
  const found = (name: string) => rows.find((row) => row.row === name && row.kind === kind);
  const [whole, most] = [found('WHOLE'), found('MOST')];
  return {
    writes: Number(whole?.writes ?? 0),
    principals: Number(whole?.principals ?? 0),
    most: most && writesOf(most),
  };
}

function writesOf(row: Row) {
  return {
    principal: row.actor as string,
    code: row.code as WriteCode,
    rpc: row.rpc as string,
    writes: Number(row.writes),
  };
}

function dayOf(day: bigint): string {
  return new Date(Number(day) * (DAY / 1_000)).toISOString().slice(0, 10);
}
