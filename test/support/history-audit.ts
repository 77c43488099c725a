import type { ISql } from 'postgres';
import { vi } from 'vitest';
import { connect } from './postgres.js';

/**
 * What must hold in a database at every moment, whatever raced or died: each rule selects what breaks it.
 * Kinds and ends are the numbers of src/store/codes.ts.
 */
const RULES: Record<string, string> = {
  'a lease has exactly one grant event': `
    SELECT l.task_id, l.fencing_token FROM lease l WHERE 1 <> (
      SELECT count(*) FROM event e WHERE e.project = l.project AND e.task_id = l.task_id
        AND e.fencing_token = l.fencing_token AND e.kind IN (15, 16)
        AND e.actor = l.principal AND e.execution_id = l.execution_id AND e.at = l.granted_at)`,
  'a grant event has its lease': `
    SELECT e.task_id, e.fencing_token FROM event e
    LEFT JOIN lease l USING (project, task_id, fencing_token) WHERE e.kind IN (15, 16) AND l.id IS NULL`,
  'an ended lease has exactly one end event, of its kind': `
    SELECT l.task_id, l.fencing_token, l."end" FROM lease l WHERE l."end" IS NOT NULL AND 1 <> (
      SELECT count(*) FROM event e WHERE e.project = l.project AND e.task_id = l.task_id
        AND e.fencing_token = l.fencing_token AND e.at = l.ended_at
        AND e.kind = CASE l."end" WHEN 2 THEN 17 WHEN 3 THEN 17 WHEN 4 THEN 18 WHEN 5 THEN 19 END)`,
  'an end event has its ended lease': `
    SELECT e.task_id, e.fencing_token, e.kind FROM event e
    LEFT JOIN lease l USING (project, task_id, fencing_token)
    WHERE e.kind IN (17, 18, 19) AND (l."end" IS NULL OR l.ended_at <> e.at)`,
  'two leases on a task never overlap': `
    SELECT one.task_id, one.fencing_token, other.fencing_token AS other FROM lease one
    JOIN lease other USING (project, task_id)
    WHERE one.fencing_token < other.fencing_token
      AND (one.ended_at IS NULL OR other.granted_at < one.ended_at)`,
  'tokens rise by one from grant to grant': `
    SELECT task_id, fencing_token, before FROM (
      SELECT task_id, fencing_token, granted_at, lag(fencing_token) OVER w AS before, lag(granted_at) OVER w AS at
      FROM lease WINDOW w AS (PARTITION BY project, task_id ORDER BY fencing_token)) l
    WHERE fencing_token <> before + 1 OR granted_at < at`,
  'a lease expires at or after its deadline, and ends otherwise only before it': `
    SELECT task_id, fencing_token, "end", ended_at - expires_at AS late FROM lease
    WHERE ("end" = 4) <> (ended_at >= expires_at)`,
  'the row of a task agrees with its leases': `
    SELECT s.task_id, s.status, s.fencing_token, s.attempt, s.lease_id FROM task_state s
    LEFT JOIN LATERAL (
      SELECT count(*) AS leases, max(fencing_token) AS newest, count(*) FILTER (WHERE "end" IS NULL) AS open,
        max(id) FILTER (WHERE "end" IS NULL) AS current
      FROM lease l WHERE l.project = s.project AND l.task_id = s.task_id) l ON true
    WHERE s.attempt <> l.leases OR s.fencing_token <> coalesce(l.newest, s.fencing_token)
      OR s.lease_id IS DISTINCT FROM l.current OR (s.status = 2) <> (s.lease_id IS NOT NULL) OR l.open > 1`,
  'no lease outlives its task': `
    SELECT l.task_id, l.fencing_token FROM lease l LEFT JOIN task_state s USING (project, task_id)
    WHERE l."end" IS NULL AND s.task_id IS NULL`,
  'lease_version counts the changes of status and lease': `
    SELECT s.task_id, s.lease_version, told.changes FROM task_state s CROSS JOIN LATERAL (
      -- A lease that ends because its task is closed is one change with that; an import may create a closed task.
      SELECT count(*) FILTER (WHERE kind IN (4, 5, 6, 8, 15, 16, 17, 18, 19)) - count(*) FILTER (
        WHERE kind IN (17, 19) AND payload->>'cause' IN ('COMPLETED', 'DROPPED', 'CLOSED_BY_OTHER'))
        - count(*) FILTER (WHERE kind = 1 AND payload->>'status' <> 'OPEN') AS changes
      FROM event e WHERE e.project = s.project AND e.task_id = s.task_id) told
    WHERE s.lease_version <> told.changes`,
  'a note has its event, and the event its note': `
    SELECT coalesce(n.task_id, e.task_id) AS task_id, n.text, e.id AS event
    FROM (SELECT * FROM event WHERE kind = 10) e
    FULL JOIN note n ON n.project = e.project AND n.task_id = e.task_id AND n.id = e.payload->>'noteId'
    LEFT JOIN task t ON t.project = e.project AND t.id = e.task_id
    WHERE e.id IS NULL OR (n.id IS NULL AND t.id IS NOT NULL)`,
  'the row of a task counts its notes': `
    SELECT s.task_id, s.note_count, count(n.id) AS notes FROM task_state s
    LEFT JOIN note n USING (project, task_id) GROUP BY s.project, s.task_id HAVING s.note_count <> count(n.id)`,
  'a task is closed as its last event says': `
    SELECT s.task_id, s.status, last.kind FROM task_state s LEFT JOIN LATERAL (
      SELECT kind FROM event e WHERE e.project = s.project AND e.task_id = s.task_id AND e.kind IN (4, 5, 6)
      ORDER BY id DESC LIMIT 1) last ON true
    WHERE (s.status = 3) <> (coalesce(last.kind, 0) = 4) OR (s.status = 4) <> (coalesce(last.kind, 0) = 5)`,
  'a task is there from its creation to its deletion': `
    SELECT coalesce(t.id, c.task_id) AS task_id, c.id AS created, d.id AS deleted, s.task_id AS state
    FROM (SELECT * FROM event WHERE kind = 1) c
    LEFT JOIN event d ON d.project = c.project AND d.task_id = c.task_id AND d.kind = 9
    FULL JOIN task t ON t.project = c.project AND t.id = c.task_id
    FULL JOIN task_state s ON s.project = t.project AND s.task_id = t.id
    WHERE c.id IS NULL OR (d.id IS NULL) <> (t.id IS NOT NULL) OR (s.task_id IS NULL) <> (t.id IS NULL)`,
  'events of one task tell its changes in order': `
    SELECT task_id, id, position FROM (
      SELECT task_id, id, position, at, lag(position) OVER w AS before, lag(at) OVER w AS earlier
      FROM event WHERE kind IN (4, 5, 6, 7, 8, 10, 15, 16, 17, 18, 19)
      WINDOW w AS (PARTITION BY project, task_id ORDER BY id)) e
    WHERE position < before OR at < earlier`,
  'positions are dense in each project': `
    SELECT project, count(e.position) AS events, max(e.position) AS last, max(h.position) AS head
    FROM event e LEFT JOIN history_head h USING (project) GROUP BY project
    HAVING count(e.position) <> coalesce(max(e.position), 0) OR max(e.position) <> max(h.position)`,
  'a remembered request has what it made': `
    SELECT r.rpc, r.request_id, r.ref FROM request r
    LEFT JOIN lease l ON r.rpc = 'AcquireLease' AND l.project = r.project AND l.id = r.ref
    LEFT JOIN event e ON e.project = r.project AND (
      (r.rpc = 'AddNote' AND e.kind = 10 AND e.payload->>'noteId' = r.ref)
      OR (r.rpc = 'CreateTask' AND e.kind = 1 AND e.task_id = r.ref)
      OR (r.rpc = 'CompleteTask' AND e.kind = 4 AND e.task_id = r.ref))
    WHERE r.rpc IN ('AcquireLease', 'AddNote', 'CreateTask', 'CompleteTask') AND l.id IS NULL AND e.id IS NULL`,
};

/**
 * What does not add up between tasks, leases, notes and history of a database: one line for each broken rule,
 * none when all is well. Waits up to 5 s until the server has numbered every event.
 */
export async function brokenRules(databaseUrl: string): Promise<string[]> {
  const sql = connect(databaseUrl, { max: 1 });
  try {
    await vi.waitFor(
      async () => {
        const [row] = await sql`SELECT count(*)::int AS pending FROM event WHERE position IS NULL`;
        if (row?.pending !== 0) throw new Error(`${row?.pending} events have no position`);
      },
      { timeout: 5_000, interval: 50 },
    );
    return await sql
      .begin('isolation level repeatable read read only', async (snapshot) =>
        Promise.all(Object.entries(RULES).map(([rule, select]) => breaches(snapshot, rule, select))),
      )
      .then((lines) => lines.flat());
  } finally {
    await sql.end();
  }
}

async function breaches(sql: ISql, rule: string, select: string): Promise<string[]> {
  const rows = await sql.unsafe(select);
  return rows.length === 0 ? [] : [`${rule}: ${rows.length} do not, such as ${JSON.stringify(rows[0])}`];
}
