import type { Actor } from '../domain/event.js';
import type { Micros } from '../domain/instant.js';
import { eventColumns } from './apply-json.js';
import type { Store } from './store.js';
import { micros, type Row } from './task-row.js';

/** A webhook as its admins see it: without its secret. */
export interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly createdAt: Micros;
  /** Deliveries that wait. */
  readonly pending: number;
  /** Deliveries that were given up. */
  readonly dead: number;
  /** Empty once a delivery got through. */
  readonly lastError: string;
}

export interface NewWebhook {
  readonly id: string;
  readonly url: string;
  /** `whsec_` and the key in base64. */
  readonly secret: string;
}

/** What the history may tell of where a webhook posts to: the rest of a URL is often a secret of the receiver's. */
export const originOf = (url: string): string => new URL(url).origin;

/**
 * Creates a webhook, which is sent what happens from now on. Answers undefined when the project has `most` already;
 * those who add one in the same instant may get past that.
 */
export async function createWebhook(
  { database: { sql }, commits }: Store,
  project: string,
  { id, url, secret }: NewWebhook,
  most: number,
  actor: Actor,
): Promise<Webhook | undefined> {
  const payload = { webhookId: id, url: originOf(url) };
  const event = eventColumns({ kind: 'WEBHOOK_CREATED', actor, payload });
  const [row] = await sql<Row[]>`
    WITH made AS (
      INSERT INTO webhook (project, id, url, secret, created_at)
      SELECT ${project}, ${id}, ${url}, ${secret}, holdfast_now()
      WHERE (SELECT count(*) FROM webhook WHERE project = ${project}) < ${most}
      RETURNING project, created_at
    ), told AS (
      INSERT INTO event (project, kind, at, actor, actor_kind, execution_id, payload)
      SELECT project, ${event.kind}, created_at, ${actor.principal}, ${event.actor_kind ?? null},
        ${actor.executionId ?? null}, ${JSON.stringify(event.payload)}::text::jsonb
      FROM made
    )
    SELECT created_at FROM made`;
  if (!row) return undefined;
  commits.eventsWritten();
  return { id, url, createdAt: micros(row.created_at), pending: 0, dead: 0, lastError: '' };
}

/** A project's webhooks, oldest first (their ids rise with time), after an id; never their secrets. */
export async function listWebhooks(
  { database: { sql } }: Store,
  project: string,
  after: string,
  limit: number,
): Promise<Webhook[]> {
  const rows = await sql<Row[]>`
    SELECT id, url, created_at, dead, last_error, (
      SELECT count(*)::int FROM webhook_delivery d
      WHERE d.project = webhook.project AND d.webhook_id = webhook.id AND webhook.gone_at IS NULL) AS pending
    FROM webhook WHERE project = ${project} AND id > ${after} ORDER BY id LIMIT ${limit}`;
  return rows.map((row) => ({
    id: row.id as string,
    url: row.url as string,
    createdAt: micros(row.created_at),
    pending: row.pending as number,
    dead: row.dead as number,
    lastError: row.last_error as string,
  }));
}

/** Deletes a webhook with all that waits for it. Answers false when the project has no such webhook. */
export async function deleteWebhook(
  { database: { sql }, commits }: Store,
  project: string,
  id: string,
  actor: Actor,
): Promise<boolean> {
  const [found] = await sql<Row[]>`SELECT url FROM webhook WHERE project = ${project} AND id = ${id}`;
  if (!found) return false;
  const payload = { webhookId: id, url: originOf(found.url as string) };
  const event = eventColumns({ kind: 'WEBHOOK_DELETED', actor, payload });
  const { count } = await sql`
    WITH gone AS (
      DELETE FROM webhook WHERE project = ${project} AND id = ${id} RETURNING project
    )
    INSERT INTO event (project, kind, at, actor, actor_kind, execution_id, payload)
    SELECT project, ${event.kind}, holdfast_now(), ${actor.principal}, ${event.actor_kind ?? null},
      ${actor.executionId ?? null}, ${JSON.stringify(event.payload)}::text::jsonb
    FROM gone`;
  if (count > 0) commits.eventsWritten();
  return count > 0;
}
