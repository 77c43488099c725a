import type { NumberedChange } from './apply-json.js';
import { DEQUEUED, EDGES, NEIGHBOURS, QUEUED, READIED, REQUEUED } from './apply-neighbours.js';
import type { ChangeItem } from './change-item.js';
import { textByShape } from './statement-text.js';
import { SELECT_STATE, STATE_OUTPUT } from './task-row.js';

/** Which parts of the statement a batch needs: the others are left out, since they cost even when they do nothing. */
export interface Shape {
  readonly skipsLocked: boolean;
  readonly severalAnItem: boolean;
  readonly propagates: boolean;
  readonly graph: boolean;
  readonly content: boolean;
  readonly grants: boolean;
  readonly ends: boolean;
  readonly notes: boolean;
  readonly removes: boolean;
  readonly addsEdges: boolean;
  readonly removesEdges: boolean;
  readonly standsAnew: boolean;
  readonly finishes: boolean;
  readonly reopens: boolean;
  readonly events: boolean;
  readonly requests: boolean;
}

export function shapeOf(
  items: readonly ChangeItem[],
  changes: readonly NumberedChange[],
  locked: 'wait' | 'skip',
): Shape {
  return {
    skipsLocked: locked === 'skip',
    severalAnItem: changes.length !== items.length,
    propagates: changes.some((change) => change.propagates || change.remove !== undefined),
    graph: changes.some(({ graphVersion }) => graphVersion !== undefined),
    content: changes.some(({ content, closing }) => content !== undefined || closing !== undefined),
    grants: changes.some(({ lease }) => lease?.op === 'grant'),
    ends: changes.some(({ lease }) => lease?.op === 'end'),
    notes: changes.some(({ note }) => note !== undefined),
    removes: changes.some(({ remove }) => remove !== undefined),
    addsEdges: changes.some(({ edges }) => edges?.add !== undefined),
    removesEdges: changes.some(({ edges }) => edges?.remove !== undefined),
    standsAnew: changes.some(({ status, content, deps }) => status ?? content ?? deps),
    finishes: changes.some(({ status, remove }) => status === 'DONE' || status === 'DROPPED' || remove),
    reopens: changes.some(({ closing }) => closing === 'reopened'),
    events: changes.some(({ events }) => events.length > 0),
    requests: items.some(({ request }) => request !== undefined),
  };
}

const part = (needed: boolean, text: string) => (needed ? text : '');

/**
 * The statement of apply.ts for batches of this shape. Parameters: the changes, the events if there are any, and the
 * requests if there are any.
 */
export const statementFor = textByShape<Shape>(
  (shape) => `
    WITH change AS MATERIALIZED (
      SELECT * FROM json_to_recordset($1::text::json) AS c(
        i integer, item integer, project text, task_id text,
        lease_version bigint, deps_version bigint, content_version bigint, deadline_was bigint,
        not_before bigint, before bigint, status smallint, expiries integer,
        op text, lease_id text, principal text, execution_id text, ttl bigint, max_age bigint, inherit_age boolean,
        lease_end smallint, ended_by text, end_reason text, remove boolean,
        content jsonb, closing jsonb, note jsonb,
        unmet integer, blockers integer, dependents integer, graph_version bigint, edges jsonb, unedges jsonb,
        actor text, actor_kind smallint, actor_execution text)
    )
    ${part(shape.propagates, EDGES)}
    , locked AS MATERIALIZED (
      -- Lateral and with a lock, so that every row is looked up by its key, however small the table is now.
      SELECT s.*, k.i FROM (
        SELECT project, task_id, i FROM change ${part(
          shape.propagates,
          `
        UNION ALL SELECT DISTINCT project, other, NULL::integer FROM edge`,
        )}
        ORDER BY project, task_id
      ) k CROSS JOIN LATERAL (
        SELECT * FROM task_state s WHERE s.project = k.project AND s.task_id = k.task_id FOR UPDATE ${shape.skipsLocked ? 'SKIP LOCKED' : ''}) s
    )
    ${part(
      shape.graph,
      `, graph AS MATERIALIZED (
      SELECT p.id, p.graph_version FROM change c CROSS JOIN LATERAL (
        SELECT id, graph_version FROM project p WHERE p.id = c.project FOR UPDATE) p
      WHERE c.graph_version = p.graph_version
    )`,
    )}
    , running AS MATERIALIZED (
      -- An execution that was ended meanwhile is seen here even by an older snapshot, because of the lock.
      SELECT c.i FROM (SELECT * FROM change WHERE op = 'grant' ORDER BY project, principal, execution_id) c
      CROSS JOIN LATERAL (
        SELECT 1 FROM execution x
        WHERE x.project = c.project AND x.principal = c.principal AND x.id = c.execution_id AND x.ended_at IS NULL
        FOR SHARE ${shape.skipsLocked ? 'SKIP LOCKED' : ''}) x
    ), clock AS MATERIALIZED (
      -- The count consumes every lock before the clock is read. It must be in the output: an aggregate that
      -- nobody uses is planned away, and the clock would be read before the wait.
      SELECT holdfast_now() AS t, after_locks.n
      FROM (SELECT count(*) AS n FROM (SELECT 1 FROM locked UNION ALL SELECT 1 FROM running) l) after_locks
    ), checked AS MATERIALIZED (
      SELECT c.*, clock.t, l.status AS was_status,
        l.lease_id AS was_lease_id, l.expires_at AS was_expires_at, l.attempt AS was_attempt,
        l.fencing_token + CASE WHEN c.op = 'grant' THEN 1 ELSE 0 END AS fencing_token,
        CASE WHEN c.op = 'grant' AND NOT c.inherit_age THEN clock.t ELSE coalesce(l.aged_from, clock.t) END AS aged_from,
        CASE WHEN c.op IN ('grant', 'renew') THEN greatest(
          CASE WHEN c.op = 'renew' THEN l.expires_at END,
          least(clock.t + c.ttl, CASE
            WHEN c.max_age = 0 THEN NULL
            WHEN c.op = 'grant' AND NOT c.inherit_age THEN clock.t + c.max_age
            ELSE coalesce(l.aged_from, clock.t) + c.max_age END)
        ) END AS expires_at
      FROM change c JOIN locked l ON l.i = c.i CROSS JOIN clock
      WHERE l.lease_version = c.lease_version
        AND (c.deps_version IS NULL OR l.deps_version = c.deps_version)
        AND (c.content_version IS NULL OR l.content_version = c.content_version)
        AND (c.deadline_was IS NULL OR l.expires_at = c.deadline_was)
        AND (c.not_before IS NULL OR clock.t >= c.not_before)
        AND (c.before IS NULL OR clock.t < c.before)
        AND (c.op IS DISTINCT FROM 'grant' OR EXISTS (SELECT 1 FROM running WHERE running.i = c.i))
        ${part(
          shape.graph,
          `
        -- One of a project at a time: two new edges, each without harm, may close a cycle together.
        AND (c.graph_version IS NULL OR EXISTS (SELECT 1 FROM graph WHERE graph.id = c.project) AND NOT EXISTS (
          SELECT 1 FROM change o WHERE o.project = c.project AND o.graph_version IS NOT NULL AND o.item < c.item))`,
        )}
    ), go AS MATERIALIZED (
      ${
        shape.severalAnItem
          ? `SELECT * FROM checked WHERE NOT EXISTS (
              SELECT 1 FROM change c WHERE c.item = checked.item AND c.i NOT IN (SELECT i FROM checked))`
          : 'SELECT * FROM checked'
      }
    )
    ${part(
      shape.graph,
      `, graph_moved AS (
      UPDATE project p SET graph_version = p.graph_version + 1 FROM go
      WHERE go.graph_version IS NOT NULL AND p.id = go.project
    )`,
    )}
    , state AS (
      UPDATE task_state s SET
        status = coalesce(go.status, s.status),
        priority = coalesce((go.content->>'priority')::integer, s.priority),
        lease_version = s.lease_version + CASE WHEN go.status IS NOT NULL OR go.op IN ('grant', 'end') THEN 1 ELSE 0 END,
        deps_version = s.deps_version + CASE WHEN go.unmet IS NOT NULL THEN 1 ELSE 0 END,
        unmet = s.unmet + coalesce(go.unmet, 0),
        blockers = s.blockers + coalesce(go.blockers, 0),
        dependents = s.dependents + coalesce(go.dependents, 0),
        content_version = s.content_version + CASE WHEN go.content IS NOT NULL THEN 1 ELSE 0 END,
        fencing_token = go.fencing_token,
        lease_id = CASE go.op WHEN 'grant' THEN go.lease_id WHEN 'end' THEN NULL ELSE s.lease_id END,
        principal = CASE go.op WHEN 'grant' THEN go.principal WHEN 'end' THEN NULL ELSE s.principal END,
        execution_id = CASE go.op WHEN 'grant' THEN go.execution_id WHEN 'end' THEN NULL ELSE s.execution_id END,
        granted_at = CASE go.op WHEN 'grant' THEN go.t WHEN 'end' THEN NULL ELSE s.granted_at END,
        expires_at = CASE WHEN go.op IN ('grant', 'renew') THEN go.expires_at WHEN go.op = 'end' THEN NULL ELSE s.expires_at END,
        ttl = CASE WHEN go.op IN ('grant', 'renew') THEN go.ttl WHEN go.op = 'end' THEN NULL ELSE s.ttl END,
        aged_from = CASE go.op WHEN 'grant' THEN go.aged_from ELSE s.aged_from END,
        prev_lease_id = CASE go.op WHEN 'end' THEN s.lease_id ELSE s.prev_lease_id END,
        prev_principal = CASE go.op WHEN 'end' THEN s.principal ELSE s.prev_principal END,
        prev_execution_id = CASE go.op WHEN 'end' THEN s.execution_id ELSE s.prev_execution_id END,
        prev_token = CASE go.op WHEN 'end' THEN s.fencing_token ELSE s.prev_token END,
        prev_end = CASE go.op WHEN 'end' THEN go.lease_end ELSE s.prev_end END,
        prev_ended_at = CASE go.op WHEN 'end' THEN go.t ELSE s.prev_ended_at END,
        attempt = s.attempt + CASE WHEN go.op = 'grant' THEN 1 ELSE 0 END,
        expiries_in_a_row = coalesce(go.expiries, s.expiries_in_a_row),
        note_count = s.note_count + CASE WHEN go.note IS NOT NULL THEN 1 ELSE 0 END
      FROM go WHERE s.project = go.project AND s.task_id = go.task_id AND go.remove IS NULL
      RETURNING go.i, go.project, go.content, go.was_status,
        go.status IS NOT NULL OR go.content IS NOT NULL OR go.unmet IS NOT NULL AS stands_anew, ${SELECT_STATE}
    )
    ${part(
      shape.content,
      `, content AS (
      UPDATE task t SET
        title = coalesce(go.content->>'title', t.title),
        body = coalesce(go.content->>'body', t.body),
        labels = CASE WHEN go.content ? 'labels'
          THEN ARRAY(SELECT jsonb_array_elements_text(go.content->'labels')) ELSE t.labels END,
        assignee = CASE WHEN go.content ? 'assignee' THEN nullif(go.content->>'assignee', '') ELSE t.assignee END,
        result = CASE WHEN go.closing IS NULL THEN t.result ELSE go.closing->>'result' END,
        closed_by = CASE WHEN go.closing IS NULL THEN t.closed_by ELSE go.closing->>'by' END,
        closed_at = CASE WHEN go.closing IS NULL THEN t.closed_at WHEN go.closing ? 'by' THEN go.t END,
        updated_at = CASE WHEN go.content IS NULL THEN t.updated_at ELSE go.t END
      FROM go WHERE t.project = go.project AND t.id = go.task_id AND go.remove IS NULL
        AND (go.content IS NOT NULL OR go.closing IS NOT NULL)
      RETURNING t.project, t.id, t.plan_id, t.plan_order, t.seq, t.labels, t.assignee
    )`,
    )}
    ${part(
      shape.grants,
      `, granted AS (
      INSERT INTO lease (project, id, task_id, fencing_token, principal, execution_id, attempt, granted_at, ttl, sweep_at)
      SELECT project, lease_id, task_id, fencing_token, principal, execution_id, was_attempt + 1, t, ttl, expires_at
      FROM go WHERE op = 'grant'
    )`,
    )}
    ${part(
      shape.ends,
      `, ended AS (
      UPDATE lease l SET "end" = go.lease_end, ended_at = go.t, expires_at = go.was_expires_at,
        ended_by = go.ended_by, end_reason = go.end_reason
      -- Task and token would do; with the id, no index of the table can be read for the project alone.
      FROM go WHERE go.op = 'end' AND l.project = go.project AND l.id = go.was_lease_id
        AND l.task_id = go.task_id AND l.fencing_token = go.fencing_token
    )`,
    )}
    ${part(
      shape.notes,
      `, noted AS (
      INSERT INTO note (project, task_id, id, author, execution_id, text, created_at)
      SELECT project, task_id, note->>'id', note->>'author', note->>'executionId', note->>'text', t
      FROM go WHERE note IS NOT NULL
    )`,
    )}
    ${part(
      shape.removes,
      `, unedged AS (
      DELETE FROM dependency d USING edge e JOIN go ON go.i = e.i
      WHERE go.remove AND d.project = go.project
        AND d.task_id = CASE e.side WHEN 'dependent' THEN e.other ELSE go.task_id END
        AND d.blocker_id = CASE e.side WHEN 'dependent' THEN go.task_id ELSE e.other END
    ), orphaned AS (
      UPDATE task t SET parent_id = NULL FROM go WHERE go.remove AND t.project = go.project AND t.parent_id = go.task_id
    ), fenced AS (
      INSERT INTO fence (project, external_key, fencing_token)
      SELECT go.project, t.external_key, go.fencing_token
      FROM go JOIN task t ON t.project = go.project AND t.id = go.task_id
      WHERE go.remove AND t.external_key IS NOT NULL
      ON CONFLICT (project, external_key) DO UPDATE
        SET fencing_token = greatest(fence.fencing_token, excluded.fencing_token)
    ), removed_state AS (
      DELETE FROM task_state s USING go WHERE go.remove AND s.project = go.project AND s.task_id = go.task_id
    ), removed_task AS (
      DELETE FROM task t USING go WHERE go.remove AND t.project = go.project AND t.id = go.task_id
    ), removed_notes AS (
      DELETE FROM note n USING go WHERE go.remove AND n.project = go.project AND n.task_id = go.task_id
    )`,
    )}
    ${part(shape.propagates, NEIGHBOURS)}
    ${part(
      shape.addsEdges,
      `, edged AS (
      INSERT INTO dependency (project, task_id, blocker_id, accept_dropped)
      SELECT go.project, go.task_id, e."blockerId", e."acceptDropped"
      FROM go CROSS JOIN LATERAL jsonb_to_recordset(go.edges) AS e("blockerId" text, "acceptDropped" boolean)
    )`,
    )}
    ${part(
      shape.removesEdges,
      `, cut AS (
      DELETE FROM dependency d USING go CROSS JOIN LATERAL jsonb_array_elements_text(go.unedges) AS u(blocker)
      WHERE d.project = go.project AND d.task_id = go.task_id AND d.blocker_id = u.blocker
    )`,
    )}
    ${part(shape.standsAnew, QUEUED)}
    ${part(shape.finishes, DEQUEUED)}
    ${part(shape.reopens, REQUEUED)}
    ${part(
      shape.events,
      `, told AS (
      INSERT INTO event (project, kind, at, task_id, actor, actor_kind, execution_id, fencing_token, payload, once_key)
      SELECT go.project, e.kind, go.t, go.task_id, e.actor, e.actor_kind, e.execution_id, go.fencing_token,
        CASE WHEN e.kind IN (15, 16)
          THEN e.payload || jsonb_build_object('expiresAt', go.expires_at) ELSE e.payload END,
        e.once || ':' || go.t / 60000000
      FROM go JOIN json_to_recordset($2::text::json) AS e(
        i integer, ord integer, kind smallint, actor text, actor_kind smallint, execution_id text,
        payload jsonb, once text) ON e.i = go.i
      ORDER BY e.i, e.ord
      ON CONFLICT (project, once_key) WHERE once_key IS NOT NULL DO UPDATE SET repeats = event.repeats + 1
    )`,
    )}
    ${part(
      shape.requests,
      `, remembered AS (
      -- A plain insert: a concurrent duplicate fails here and takes the whole statement with it.
      INSERT INTO request (project, principal, rpc, request_id, body_hash, ref, created_at)
      SELECT go.project, r.principal, r.rpc, r.request_id, decode(r.body_hash, 'hex'), r.ref, go.t
      FROM go JOIN json_to_recordset($${shape.events ? 3 : 2}::text::json) AS r(
        i integer, principal text, rpc text, request_id text, body_hash text, ref text) ON r.i = go.i
    )`,
    )}
    SELECT c.item, c.i, go.t, ${STATE_OUTPUT},
      -- An execution's row that is missing may be ended or locked: only waiting for it tells.
      l.i IS NOT NULL AND (c.op IS DISTINCT FROM 'grant' OR running.i IS NOT NULL) AS had_lock,
      ${shape.propagates ? READIED : 'NULL'} AS readied
    FROM change c LEFT JOIN locked l ON l.i = c.i LEFT JOIN running ON running.i = c.i LEFT JOIN go ON go.i = c.i
      LEFT JOIN state ON state.i = c.i
    ORDER BY c.i`,
);
