import type { EventDraft } from '../domain/event.js';
import { eventColumns } from './apply.js';
import type { Store } from './store.js';

/**
 * Keeps an event that tells of no change: a refusal. Within one minute the same one is counted instead of
 * listed. The work that a refused completion carried is kept once for each lease.
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
    INSERT INTO event (project, kind, at, task_id, actor, actor_kind, execution_id, fencing_token, payload, once_key)
    SELECT ${project}, ${columns.kind}, t, ${taskId}, ${columns.actor ?? null}, ${columns.actor_kind ?? null},
      ${columns.execution_id ?? null}, ${fencingToken},
      CASE WHEN payload ? 'keptResult' AND EXISTS (
        SELECT 1 FROM event e WHERE e.project = ${project} AND e.task_id = ${taskId} AND e.kind = ${columns.kind}
          AND e.actor = ${columns.actor ?? null} AND e.payload ? 'keptResult'
          AND e.payload->>'proofToken' IS NOT DISTINCT FROM input.payload->>'proofToken')
        THEN payload - 'keptResult' ELSE payload END,
      ${once ?? null}::text || ':' || t / 60000000
    FROM (SELECT holdfast_now() AS t, ${JSON.stringify(columns.payload)}::text::jsonb AS payload) input
    ON CONFLICT (project, once_key) WHERE once_key IS NOT NULL DO UPDATE SET repeats = event.repeats + 1`;
  commits.eventsWritten();
}
