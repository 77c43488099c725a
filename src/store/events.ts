import type { EventDraft } from '../domain/event.js';
import { eventColumns } from './apply-json.js';
import type { Store } from './store.js';

/**
 * Keeps an event that tells of no change: a refusal. Within one minute the same one is counted instead of
 * listed. The work that a refused completion carried is kept once for each lease, in an entry of its own:
 * another lease's work, refused within the same minute, must not vanish in a count.
 */
export async function recordEvent(
  { database: { sql }, commits }: Store,
  project: string,
  taskId: string,
  fencingToken: bigint,
  draft: EventDraft,
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
  commits.eventsWritten();
}
