import type { EventKind } from '../domain/event.js';
import { DAY, type Micros } from '../domain/instant.js';
import { NOTIFIED, POSTED } from '../domain/notification.js';
import { textArray } from './arrays.js';
import { eventCodes, madeForCodes } from './codes.js';
import { eventOf, type HistoryEvent } from './history.js';
import type { Store } from './store.js';
import type { Row } from './task-row.js';

/** What a person is to know. */
export interface Notification {
  readonly id: string;
  readonly event: HistoryEvent;
  readonly acknowledged: boolean;
}

/** Whose inbox: a principal's, known by the project of its token, in a project that it may see. */
export interface Inbox {
  readonly project: string;
  readonly tokenProject: string;
  readonly principal: string;
}

/** What of the history was turned into notifications and deliveries. */
export interface Told {
  readonly events: number;
  readonly deliveries: number;
}

/** What one statement takes on: so many projects, and of each so many events. */
const PROJECTS = 50;
const EVENTS = 100;

// Written out, so that the planner sees that the index `event_notified` has them all.
const codesOf = (kinds: readonly EventKind[]) => kinds.map(eventCodes.code).join(', ');
const NOTIFIED_CODES = codesOf(NOTIFIED);
const POSTED_CODES = codesOf(POSTED);

const KEPT = 'position, kind, at, task_id, actor, actor_kind, execution_id, fencing_token, payload';

/**
 * Turns numbered events that people are to know into notifications and deliveries, a batch a call. A project's head
 * is locked first and moved in the statement that writes them: whoever comes second starts where the first one ended,
 * and one that dies has done nothing. Positions are handed out in order, so nothing appears behind the head.
 *
 * @param project only of this one; absent: of all
 * @returns what it told; no events means that there are none left
 */
export async function tellEvents({ database: { sql } }: Store, project?: string): Promise<Told> {
  const told = { events: 0, deliveries: 0 };
  const behind = await sql<{ project: string; fresh: boolean }[]>`
    SELECT h.project, n.project IS NULL AS fresh
    FROM history_head h LEFT JOIN notification_head n ON n.project = h.project
    WHERE ${project === undefined ? sql`true` : sql`h.project = ${project}`} AND EXISTS (
      SELECT 1 FROM event e WHERE e.project = h.project AND e.kind IN (${sql.unsafe(NOTIFIED_CODES)})
        AND e.position > coalesce(n.position, 0))
    LIMIT ${PROJECTS}`;
  if (behind.length === 0) return told;
  const projects = textArray(
    sql,
    behind.map((row) => row.project),
  );
  if (behind.some(({ fresh }) => fresh)) {
    await sql`
      INSERT INTO notification_head (project, position)
      SELECT p, 0 FROM unnest(${projects}) p ORDER BY p ON CONFLICT DO NOTHING`;
  }
  const [row] = await sql<{ events: number; deliveries: number }[]>`
    WITH clock AS MATERIALIZED (SELECT holdfast_now() AS t), head AS MATERIALIZED (
      SELECT project, position FROM notification_head WHERE project = ANY(${projects}) ORDER BY project FOR UPDATE
    ), found AS MATERIALIZED (
      SELECT e.* FROM head CROSS JOIN LATERAL (
        SELECT project, ${sql.unsafe(KEPT)} FROM event
        WHERE event.project = head.project AND event.kind IN (${sql.unsafe(NOTIFIED_CODES)})
          AND event.position > head.position
        ORDER BY event.position LIMIT ${EVENTS}) e
    ), valid AS NOT MATERIALIZED (
      -- Visitors share a token, and are nobody on the project: an inbox of theirs would grow for ever.
      SELECT token.* FROM clock, token
      WHERE kind = 2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > clock.t)
        AND made_for IS DISTINCT FROM ${madeForCodes.code('VISITORS')}::smallint
    ), people AS (
      SELECT head.project, valid.project AS token_project, valid.principal FROM head JOIN valid ON valid.project = head.project
      UNION
      SELECT head.project, valid.project, valid.principal FROM head, valid WHERE valid.owner
    ), told AS (
      INSERT INTO notification (project, token_project, principal, ${sql.unsafe(KEPT)})
      SELECT found.project, people.token_project, people.principal, ${sql.unsafe(KEPT)}
      FROM found JOIN people ON people.project = found.project
    ), hook AS MATERIALIZED (
      -- One that is being deleted is passed over.
      SELECT webhook.project, webhook.id, webhook.created_at FROM webhook JOIN head ON head.project = webhook.project
      WHERE webhook.gone_at IS NULL FOR KEY SHARE OF webhook SKIP LOCKED
    ), posted AS (
      INSERT INTO webhook_delivery (project, webhook_id, created_at, due_at, ${sql.unsafe(KEPT)})
      SELECT found.project, hook.id, clock.t, clock.t, ${sql.unsafe(KEPT)}
      FROM clock, found JOIN hook ON hook.project = found.project AND hook.created_at <= found.at
      WHERE found.kind IN (${sql.unsafe(POSTED_CODES)})
      RETURNING 1
    ), moved AS (
      UPDATE notification_head n SET position = last.position
      FROM (SELECT project, max(position) AS position FROM found GROUP BY project) last
      WHERE n.project = last.project
    )
    SELECT (SELECT count(*)::int FROM found) AS events, (SELECT count(*)::int FROM posted) AS deliveries`;
  return row ?? told;
}

/** A person's notifications, newest first, before a position. */
export async function listNotifications(
  { database: { sql } }: Store,
  { project, tokenProject, principal }: Inbox,
  includeAcknowledged: boolean,
  before: bigint | undefined,
  limit: number,
): Promise<Notification[]> {
  const rows = await sql<Row[]>`
    SELECT *, 0 AS repeats FROM notification
    WHERE project = ${project} AND token_project = ${tokenProject} AND principal = ${principal}
      ${includeAcknowledged ? sql`` : sql`AND acknowledged_at IS NULL`}
      ${before === undefined ? sql`` : sql`AND position < ${before}`}
    ORDER BY position DESC LIMIT ${limit}`;
  return rows.map((row) => ({
    id: row.id as string,
    event: eventOf(row),
    acknowledged: row.acknowledged_at !== null,
  }));
}

/** Marks those of a person's notifications that are not marked yet, and answers how many; others are passed over. */
export async function acknowledgeNotifications(
  { database: { sql } }: Store,
  { project, tokenProject, principal }: Inbox,
  ids: readonly string[],
): Promise<number> {
  const { count } = await sql`
    UPDATE notification SET acknowledged_at = holdfast_now()
    WHERE project = ${project} AND id = ANY(${textArray(sql, ids)})
      AND token_project = ${tokenProject} AND principal = ${principal} AND acknowledged_at IS NULL`;
  return count;
}

/** How long a notification is kept once it is acknowledged. Others are kept until then. */
const KEPT_FOR: Micros = 30 * DAY;

/** Forgets notifications that were acknowledged long ago, at most `batch`, and answers how many. */
export async function forgetAcknowledged({ database: { sql } }: Store, batch: number): Promise<number> {
  const { count } = await sql`
    DELETE FROM notification n USING (
      SELECT project, id FROM notification WHERE acknowledged_at < holdfast_now() - ${KEPT_FOR}::bigint
      LIMIT ${batch}) old
    WHERE n.project = old.project AND n.id = old.id`;
  return count;
}
