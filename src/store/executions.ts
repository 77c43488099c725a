import type { Caller, Holder } from '../domain/principal.js';
import { kindCodes } from './codes.js';
import type { Store } from './store.js';
import type { Row } from './task-row.js';

/** Makes sure that an execution is known before its first grant, which locks its row against its end. */
export async function ensureExecution(
  { database: { sql } }: Store,
  project: string,
  holder: Holder,
): Promise<void> {
  await sql`
    INSERT INTO execution (project, principal, id) VALUES (${project}, ${holder.principal}, ${holder.executionId})
    ON CONFLICT DO NOTHING`;
}

/**
 * Marks an execution as ended. Waits for grants to it that are under way, and keeps out all later ones.
 *
 * @returns false when it was ended before
 */
export async function markEnded(
  { database: { sql }, commits }: Store,
  project: string,
  caller: Caller,
  holder: Holder,
): Promise<boolean> {
  const rows = await sql<Row[]>`
    WITH ended AS (
      INSERT INTO execution (project, principal, id, ended_at)
      VALUES (${project}, ${holder.principal}, ${holder.executionId}, holdfast_now())
      ON CONFLICT (project, principal, id) DO UPDATE SET ended_at = excluded.ended_at
        WHERE execution.ended_at IS NULL
      RETURNING ended_at
    ), told AS (
      INSERT INTO event (project, kind, at, actor, actor_kind, execution_id, payload)
      SELECT ${project}, 24, ended_at, ${holder.principal}, ${kindCodes.code(caller.kind)}, ${holder.executionId},
        jsonb_build_object('leasesReleased', (
          SELECT count(*) FROM lease l
          JOIN task_state s ON s.project = l.project AND s.task_id = l.task_id AND s.lease_id = l.id
          WHERE l.project = ${project} AND l.principal = ${holder.principal}
            AND l.execution_id = ${holder.executionId} AND l."end" IS NULL AND s.expires_at > ended.ended_at))
      FROM ended
    )
    SELECT ended_at FROM ended`;
  if (rows.length > 0) commits.eventsWritten();
  return rows.length > 0;
}
