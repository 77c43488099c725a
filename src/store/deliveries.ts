import { CLAIMED_FOR, GIVEN_UP_AFTER } from '../domain/delivery.js';
import type { Micros } from '../domain/instant.js';
import { eventColumns } from './apply-json.js';
import type { Sql } from './database.js';
import { eventOf, type HistoryEvent } from './history.js';
import type { Store } from './store.js';
import { micros, type Row } from './task-row.js';
import { originOf } from './webhooks.js';

/** One attempt to tell one webhook of one event. */
export interface Delivery {
  readonly project: string;
  readonly webhookId: string;
  readonly event: HistoryEvent;
  readonly url: string;
  /** Signs, and is for nobody's eyes. */
  readonly secret: string;
  /** The same in every attempt. */
  readonly messageId: string;
  /** Which attempt this is, from 1. */
  readonly attempt: number;
  /** When it began. */
  readonly at: Micros;
}

/**
 * Takes on deliveries that are due, for {@link CLAIMED_FOR}; after that, others may. Of the same webhook and task only
 * the earliest is taken, so that they arrive in order; other tasks do not wait for it.
 *
 * @param limit at most so many
 * @param eachWebhook at most so many of one webhook, with those under way
 * @param underWay how many of each webhook this process has taken and not settled
 */
export async function claimDeliveries(
  { database: { sql } }: Store,
  limit: number,
  eachWebhook: number,
  underWay: ReadonlyMap<string, number>,
): Promise<Delivery[]> {
  const busy = JSON.stringify([...underWay].map(([webhook, deliveries]) => ({ webhook, deliveries })));
  const rows = await sql<Row[]>`
    WITH clock AS MATERIALIZED (SELECT holdfast_now() AS t), hook AS MATERIALIZED (
      SELECT project, id, url, secret, greatest(0, ${eachWebhook}::integer - coalesce(busy.deliveries, 0)) AS free
      FROM webhook LEFT JOIN jsonb_to_recordset(${busy}::text::jsonb) AS busy(webhook text, deliveries integer)
        ON busy.webhook = webhook.id
      WHERE gone_at IS NULL
      -- No webhook is always the first.
      ORDER BY random()
    ), due AS MATERIALIZED (
      SELECT hook.project, hook.id, hook.url, hook.secret, first.position
      FROM clock, hook CROSS JOIN LATERAL (
        SELECT position FROM webhook_delivery d
        -- Not NOT EXISTS: joined instead of looked up, it compared each delivery of a webhook with each other one.
        WHERE d.project = hook.project AND d.webhook_id = hook.id AND d.due_at <= clock.t AND d.position = (
          SELECT min(e.position) FROM webhook_delivery e
          WHERE e.project = d.project AND e.webhook_id = d.webhook_id AND e.task_id = d.task_id)
        ORDER BY d.due_at, d.position LIMIT hook.free FOR UPDATE OF d SKIP LOCKED) first
      LIMIT ${limit}
    )
    UPDATE webhook_delivery d SET due_at = clock.t + ${CLAIMED_FOR}::bigint, attempts = attempts + 1
    FROM clock, due WHERE d.project = due.project AND d.webhook_id = due.id AND d.position = due.position
    RETURNING d.*, 0 AS repeats, due.url, due.secret, clock.t AS begun_at`;
  return rows.map((row) => ({
    project: row.project as string,
    webhookId: row.webhook_id as string,
    event: eventOf(row),
    url: row.url as string,
    secret: row.secret as string,
    messageId: row.message_id as string,
    attempt: row.attempts as number,
    at: micros(row.begun_at),
  }));
}

/** A webhook's row is locked before its deliveries, as when it is deleted with them. */
function lockWebhook(sql: Sql, project: string, id: string) {
  return sql`SELECT project, id, failed_at FROM webhook WHERE project = ${project} AND id = ${id} FOR NO KEY UPDATE`;
}

/** It arrived. It is not sent again, also when somebody else has taken it over meanwhile and not sent it yet. */
export async function deliveryArrived(
  { database: { sql } }: Store,
  { project, webhookId, event }: Delivery,
): Promise<void> {
  await sql`
    WITH hook AS MATERIALIZED (${lockWebhook(sql, project, webhookId)}), mended AS (
      UPDATE webhook w SET last_error = '', failed_at = NULL
      FROM hook WHERE w.project = hook.project AND w.id = hook.id AND (w.last_error <> '' OR w.failed_at IS NOT NULL)
    )
    DELETE FROM webhook_delivery d USING hook
    WHERE d.project = hook.project AND d.webhook_id = hook.id AND d.position = ${event.position}`;
}

/** What came of an attempt that failed. */
export type AfterFailure = 'WAITS' | 'GIVEN_UP' | 'TAKEN_OVER';

export interface Failure {
  /** For the webhook's admins and the history; short, and without anything that the receiver said. */
  readonly error: string;
  /** The receiver wants no more, of this and of anything else. */
  readonly gone: boolean;
  /** Until the next attempt, unless that would be the end. */
  readonly pause: Micros;
}

/**
 * An attempt failed: it waits for the next one, or is given up when it is a day old or the receiver is gone. That a
 * webhook's deliveries are given up is told in the history once, until one gets through again.
 */
export async function deliveryFailed(
  { database: { sql }, commits }: Store,
  { project, webhookId, event: { position }, url, attempt }: Delivery,
  { error, gone, pause }: Failure,
): Promise<AfterFailure> {
  const payload = { webhookId, url: originOf(url), error };
  const event = eventColumns({ kind: 'WEBHOOK_FAILED', payload });
  const [row] = await sql<{ dead: boolean; told: boolean }[]>`
    WITH hook AS MATERIALIZED (${lockWebhook(sql, project, webhookId)}), tried AS MATERIALIZED (
      SELECT d.project, d.webhook_id, d.position, d.task_id, d.created_at, hook.failed_at FROM hook JOIN webhook_delivery d
        ON d.project = hook.project AND d.webhook_id = hook.id AND d.position = ${position}
      WHERE d.attempts = ${attempt} FOR UPDATE OF d
    ), judged AS MATERIALIZED (
      SELECT *, ${gone}::boolean OR t >= created_at + ${GIVEN_UP_AFTER}::bigint AS dead
      FROM (SELECT *, holdfast_now() AS t FROM tried) now
    ), waits AS (
      -- Those of the same task wait along, so that a claim need not look at them in vain.
      UPDATE webhook_delivery d SET due_at = least(j.t + ${pause}::bigint, j.created_at + ${GIVEN_UP_AFTER}::bigint)
      FROM judged j WHERE NOT j.dead AND d.project = j.project AND d.webhook_id = j.webhook_id
        AND d.task_id = j.task_id AND d.position >= j.position
    ), lost AS MATERIALIZED (
      SELECT d.project, d.webhook_id, d.position FROM judged j JOIN webhook_delivery d
        ON d.project = j.project AND d.webhook_id = j.webhook_id AND (d.position = j.position OR ${gone}::boolean)
      WHERE j.dead
    ), given_up AS (
      DELETE FROM webhook_delivery d USING lost
      WHERE d.project = lost.project AND d.webhook_id = lost.webhook_id AND d.position = lost.position
    ), noted AS (
      UPDATE webhook w SET last_error = ${error}, dead = w.dead + (SELECT count(*) FROM lost),
        failed_at = CASE WHEN j.dead THEN coalesce(w.failed_at, j.t) ELSE w.failed_at END,
        gone_at = CASE WHEN ${gone}::boolean THEN j.t END
      FROM judged j WHERE w.project = j.project AND w.id = j.webhook_id
    ), told AS (
      INSERT INTO event (project, kind, at, payload)
      SELECT project, ${event.kind}, t, ${JSON.stringify(event.payload)}::text::jsonb
      FROM judged WHERE dead AND failed_at IS NULL
      RETURNING 1
    )
    SELECT dead, EXISTS (SELECT 1 FROM told) AS told FROM judged`;
  if (!row) return 'TAKEN_OVER';
  if (row.told) commits.eventsWritten();
  return row.dead ? 'GIVEN_UP' : 'WAITS';
}

/** An attempt was broken off by its own server: anybody may make the next one at once. */
export async function deliveryBrokenOff(
  { database: { sql } }: Store,
  { project, webhookId, event: { position }, attempt }: Delivery,
): Promise<void> {
  await sql`
    UPDATE webhook_delivery SET due_at = holdfast_now()
    WHERE project = ${project} AND webhook_id = ${webhookId} AND position = ${position} AND attempts = ${attempt}`;
}

/** How many deliveries wait, of all projects. */
export async function countDeliveries({ database: { sql } }: Store): Promise<number> {
  const [row] = await sql<{ deliveries: number }[]>`SELECT count(*)::int AS deliveries FROM webhook_delivery`;
  return row?.deliveries ?? 0;
}

/** Forgets what was put into the outbox for a receiver while it said that it wants no more. */
export async function forgetUnwanted({ database: { sql } }: Store): Promise<void> {
  await sql`
    DELETE FROM webhook_delivery d USING webhook w
    WHERE w.gone_at IS NOT NULL AND d.project = w.project AND d.webhook_id = w.id`;
}
