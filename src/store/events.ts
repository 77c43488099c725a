import type { EventDraft } from '../domain/event.js';
import { eventColumns } from './apply-json.js';
import type { Database, Sql } from './database.js';

/** An event that tells of no change: a refusal. */
export interface RefusalItem {
  readonly project: string;
  readonly taskId: string;
  readonly fencingToken: bigint;
  readonly draft: EventDraft;
}

/** What of the store keeps refusals. */
interface Recorder {
  readonly database: Database;
  readonly commits: { eventsWritten(told: readonly EventDraft[]): void };
  readonly recordSoon: (item: RefusalItem) => Promise<unknown>;
}

/**
 * Keeps an event that tells of no change. Within one minute the same one is counted instead of listed. The
 * work that a refused completion carried is kept once for each lease, in an entry of its own: another lease's
 * work, refused within the same minute, must not vanish in a count.
 */
export async function recordEvent(
  store: Recorder,
  project: string,
  taskId: string,
  fencingToken: bigint,
  draft: EventDraft,
): Promise<void> {
  const item = { project, taskId, fencingToken, draft };
  if ('keptResult' in draft.payload) await recordWithWork(store.database.sql, item);
  else await store.recordSoon(item);
  store.commits.eventsWritten([draft]);
}

/**
 * Keeps many in one statement, the same ones as one row with a count: otherwise everybody who is refused the
 * same task would wait in line for that row, each for a commit of its own.
 */
export async function recordEvents(sql: Sql, items: readonly RefusalItem[]): Promise<void> {
  const entries = new Map<string, ReturnType<typeof entryOf>>();
  for (const item of items) {
    const entry = entryOf(item);
    const key =
      entry.once === undefined ? `alone ${entries.size}` : JSON.stringify([entry.project, entry.once]);
    const same = entries.get(key);
    if (same) same.repeats++;
    else entries.set(key, entry);
  }
  // In the order of their keys, so that two replicas never wait for each other.
  await sql`
    WITH clock AS MATERIALIZED (SELECT holdfast_now() AS t)
    INSERT INTO event (project, kind, at, task_id, actor, actor_kind, execution_id, fencing_token, payload, once_key, repeats)
    SELECT e.project, e.kind, t, e.task_id, e.actor, e.actor_kind, e.execution_id, e.fencing_token, e.payload,
      e.once || ':' || t / 60000000, e.repeats
    FROM clock, jsonb_to_recordset(${JSON.stringify([...entries.values()])}::text::jsonb) AS e(
      project text, kind smallint, task_id text, actor text, actor_kind smallint, execution_id text,
      fencing_token bigint, payload jsonb, once text, repeats integer)
    ORDER BY e.project, e.once
    ON CONFLICT (project, once_key) WHERE once_key IS NOT NULL
      DO UPDATE SET repeats = event.repeats + excluded.repeats + 1`;
}

function entryOf({ project, taskId, fencingToken, draft }: RefusalItem) {
  return {
    project,
    task_id: taskId,
    fencing_token: fencingToken.toString(),
    ...eventColumns(draft),
    repeats: 0,
  };
}

async function recordWithWork(
  sql: Sql,
  { project, taskId, fencingToken, draft }: RefusalItem,
): Promise<void> {
  const { once, ...columns } = eventColumns(draft);
  await sql`
    WITH input AS (
      SELECT holdfast_now() AS t, payload, ${once ?? null}::text AS once,
        ${once ?? null}::text || ':kept:' || coalesce(payload->>'proofToken', '') AS once_kept
      FROM (SELECT ${JSON.stringify(columns.payload)}::text::jsonb AS payload) p
    ), entry AS (
      SELECT t, CASE WHEN keep THEN once_kept ELSE once || ':' || t / 60000000 END AS once_key,
        CASE WHEN keep THEN payload ELSE payload - 'keptResult' END AS payload
      FROM (SELECT *, payload ? 'keptResult' AND NOT EXISTS (
          SELECT 1 FROM event e WHERE e.project = ${project} AND e.once_key = input.once_kept) AS keep
        FROM input) decided
    )
    INSERT INTO event (project, kind, at, task_id, actor, actor_kind, execution_id, fencing_token, payload, once_key)
    SELECT ${project}, ${columns.kind}, t, ${taskId}, ${columns.actor ?? null}, ${columns.actor_kind ?? null},
      ${columns.execution_id ?? null}, ${fencingToken}, payload, once_key
    FROM entry
    ON CONFLICT (project, once_key) WHERE once_key IS NOT NULL DO UPDATE SET repeats = event.repeats + 1`;
}
