import type { Actor, EventDraft } from '../domain/event.js';
import type { TaskState } from '../domain/task-state.js';
import { eventColumns } from './apply-json.js';
import { textArray } from './arrays.js';
import { type RequestKey, remembering } from './requests.js';
import type { Store } from './store.js';
import { type Row, SELECT_STATE, SELECT_TASK } from './task-row.js';
import { type TaskWithState, withState } from './tasks.js';

export interface NewTask {
  readonly id: string;
  readonly title: string;
  readonly body: string;
  readonly priority: number;
  readonly labels: readonly string[];
  readonly planId: string | undefined;
  readonly externalKey: string | undefined;
  readonly assignee: string;
  readonly blockedBy: readonly string[];
  /** The parent as the decision to add to it saw it, and what is told of that decision. */
  readonly parent: { readonly state: TaskState; readonly events: readonly EventDraft[] } | undefined;
  /** What the check for cycles relied on; undefined when none was needed. */
  readonly graphVersion: bigint | undefined;
  /** And on which versions of the edges of those in `blockedBy`; empty when none was needed. */
  readonly depsVersions: Readonly<Record<string, string>>;
}

export type Created =
  | { readonly kind: 'CREATED'; readonly created: TaskWithState }
  | { readonly kind: 'NO_SUCH_PLAN' }
  | { readonly kind: 'NO_SUCH_BLOCKERS'; readonly ids: readonly string[] }
  /** The parent or the graph has changed since it was read: read again and decide anew. */
  | { readonly kind: 'OVERTAKEN' };

/**
 * Creates a task with its edges in one statement. The tasks at the other ends are locked, so that their status
 * and the new task's count of unmet dependencies agree. With an external key that was used before, the fencing
 * counter goes on where the deleted task's stopped: the counter's row is taken first, since that waits for a
 * deletion under way and then sees it, whatever the snapshot says.
 *
 * @throws a DUPLICATE fault for `task_external_key` or the request
 */
export async function createTask(
  { database: { sql }, commits }: Store,
  project: string,
  task: NewTask,
  actor: Actor,
  request: RequestKey | undefined,
): Promise<Created> {
  const { parent } = task;
  const blockedBy = textArray(sql, task.blockedBy);
  const planId = task.planId ?? null;
  const [row] = await sql<Row[]>`
    WITH locked AS MATERIALIZED (
      SELECT s.* FROM (
        SELECT id FROM unnest(${blockedBy} || ${parent ? sql`ARRAY[${parent.state.taskId}]` : sql`'{}'`}::text[]) AS k(id)
        ORDER BY id
      ) k CROSS JOIN LATERAL (
        SELECT * FROM task_state WHERE project = ${project} AND task_id = k.id FOR UPDATE) s
    ), clock AS MATERIALIZED (
      SELECT holdfast_now() AS t, after_locks.n FROM (SELECT count(*) AS n FROM locked) after_locks
    ), blocker AS (
      SELECT * FROM locked WHERE task_id = ANY(${blockedBy})
    ), missing AS (
      SELECT json_agg(id) AS ids FROM unnest(${blockedBy}) AS k(id) WHERE id NOT IN (SELECT task_id FROM blocker)
    ), graph AS (
      UPDATE project SET graph_version = graph_version + 1
      WHERE id = ${project} AND graph_version = ${task.graphVersion ?? null}
      RETURNING id
    ), kept AS (
      SELECT (${parent === undefined} OR EXISTS (
          SELECT 1 FROM locked WHERE task_id = ${parent?.state.taskId ?? null}
            AND lease_version = ${parent?.state.leaseVersion ?? null} AND deps_version = ${parent?.state.depsVersion ?? null})
            AND (${parent?.state.lease?.expiresAt ?? null}::bigint IS NULL OR clock.t < ${parent?.state.lease?.expiresAt ?? null}))
        AND (${task.graphVersion === undefined} OR EXISTS (SELECT 1 FROM graph))
        AND NOT EXISTS (
          SELECT 1 FROM jsonb_each_text(${JSON.stringify(task.depsVersions)}::text::jsonb) AS x(task_id, deps_version)
          LEFT JOIN locked l ON l.task_id = x.task_id AND l.deps_version = x.deps_version::bigint
          WHERE l.task_id IS NULL) AS ok
      FROM clock
    ), fenced AS (
      INSERT INTO fence (project, external_key, fencing_token)
      SELECT ${project}, key, (SELECT counters_from FROM meta) FROM (SELECT ${task.externalKey ?? null}::text AS key) k, kept, missing
      WHERE key IS NOT NULL AND kept.ok AND missing.ids IS NULL
      ON CONFLICT (project, external_key) DO UPDATE SET fencing_token = fence.fencing_token
      RETURNING fencing_token
    ), step AS (
      UPDATE plan SET last_order = last_order + 1 FROM kept, missing
      WHERE project = ${project} AND plan.id = ${planId} AND kept.ok AND missing.ids IS NULL
      RETURNING last_order
    ), go AS MATERIALIZED (
      SELECT clock.t, coalesce((SELECT last_order FROM step), 0) AS plan_order,
        coalesce((SELECT fencing_token FROM fenced), 0) AS fencing_token,
        (SELECT count(*) FROM blocker)::integer AS blockers,
        (SELECT count(*) FROM blocker WHERE status <> 3)::integer AS unmet
      FROM clock, kept, missing
      WHERE kept.ok AND missing.ids IS NULL AND (${planId}::text IS NULL OR EXISTS (SELECT 1 FROM step))
    ), t AS (
      INSERT INTO task (project, id, title, body, labels, plan_id, plan_order, parent_id, external_key, assignee,
        created_at, created_by, updated_at)
      SELECT ${project}, ${task.id}, ${task.title}, ${task.body}, ${textArray(sql, task.labels)},
        ${planId}, go.plan_order, ${parent?.state.taskId ?? null}, ${task.externalKey ?? null}, ${task.assignee || null},
        go.t, ${actor.principal}, go.t
      FROM go RETURNING *
    ), s AS (
      INSERT INTO task_state (project, task_id, status, priority, fencing_token, unmet, blockers, dependents)
      SELECT ${project}, t.id, 1, ${task.priority}, go.fencing_token, go.unmet, go.blockers, ${parent ? 1 : 0}
      FROM go, t RETURNING *
    ), queued AS (
      INSERT INTO queue (project, task_id, standing, priority, plan_id, plan_order, seq, labels, assignee)
      SELECT t.project, t.id, CASE WHEN s.unmet > 0 THEN 2 ELSE 1 END, s.priority, t.plan_id, t.plan_order, t.seq,
        t.labels, t.assignee FROM t, s
    ), edged AS (
      INSERT INTO dependency (project, task_id, blocker_id, accept_dropped)
      SELECT ${project}, s.task_id, b.task_id, false FROM s, blocker b
      ${parent ? sql`UNION ALL SELECT ${project}, ${parent.state.taskId}, s.task_id, true FROM s` : sql``}
    ), counted AS (
      UPDATE task_state b SET
        dependents = b.dependents + CASE WHEN b.task_id = ${parent?.state.taskId ?? null} THEN 0 ELSE 1 END,
        blockers = b.blockers + CASE WHEN b.task_id = ${parent?.state.taskId ?? null} THEN 1 ELSE 0 END,
        unmet = b.unmet + CASE WHEN b.task_id = ${parent?.state.taskId ?? null} THEN 1 ELSE 0 END,
        deps_version = b.deps_version + 1
      FROM go, locked WHERE b.project = ${project} AND b.task_id = locked.task_id
      RETURNING b.task_id, b.status, b.fencing_token
    ), parent_queued AS (
      UPDATE queue q SET standing = 2 FROM counted c
      WHERE c.task_id = ${parent?.state.taskId ?? null} AND c.status = 1 AND q.project = ${project} AND q.task_id = c.task_id
    ), told AS (
      INSERT INTO event (project, kind, at, task_id, actor, actor_kind, execution_id, fencing_token, payload, once_key)
      SELECT ${project}, e.kind, go.t, coalesce(c.task_id, s.task_id), e.actor, e.actor_kind, e.execution_id,
        coalesce(c.fencing_token, s.fencing_token), e.payload, e.once || ':' || go.t / 60000000
      FROM go CROSS JOIN s CROSS JOIN jsonb_to_recordset(${eventsJson(task, actor)}::text::jsonb) AS e(
        of_parent boolean, ord integer, kind smallint, actor text, actor_kind smallint, execution_id text,
        payload jsonb, once text)
      LEFT JOIN counted c ON e.of_parent AND c.task_id = ${parent?.state.taskId ?? null}
      WHERE e.kind <> 3 OR s.unmet = 0
      ORDER BY e.ord
      ON CONFLICT (project, once_key) WHERE once_key IS NOT NULL DO UPDATE SET repeats = event.repeats + 1
    ), remembered AS (${remembering(sql, project, request && { ...request, ref: task.id }, { made: 'go', at: 't' })}
    )
    SELECT missing.ids AS missing, kept.ok, go.t AS now, ${sql.unsafe(SELECT_TASK)}, ${sql.unsafe(SELECT_STATE)}
    FROM missing CROSS JOIN kept LEFT JOIN go ON true LEFT JOIN t ON true LEFT JOIN s ON true`;
  if (!row) throw new Error('creating a task answered no row');
  if (row.missing !== null) return { kind: 'NO_SUCH_BLOCKERS', ids: row.missing as string[] };
  if (!row.ok) return { kind: 'OVERTAKEN' };
  if (row.t_id === null) return { kind: 'NO_SUCH_PLAN' };
  commits.eventsWritten();
  commits.tasksReady(project);
  const created = withState(row);
  return { kind: 'CREATED', created: { ...created, task: { ...created.task, blockedBy: task.blockedBy } } };
}

function eventsJson(task: NewTask, actor: Actor): string {
  const { parent } = task;
  const own: EventDraft[] = [
    {
      kind: 'TASK_CREATED',
      actor,
      payload: {
        title: task.title,
        status: 'OPEN',
        priority: task.priority,
        labels: task.labels,
        ...(task.planId !== undefined && { planId: task.planId }),
        ...(parent && { parentId: parent.state.taskId }),
        ...(task.externalKey !== undefined && { externalKey: task.externalKey }),
        blockedBy: task.blockedBy,
      },
    },
    { kind: 'TASK_READY', payload: { cause: 'CREATED' } },
  ];
  return JSON.stringify(
    [
      ...own.map((event) => ({ ...eventColumns(event), of_parent: false })),
      ...(parent?.events ?? []).map((event) => ({ ...eventColumns(event), of_parent: true })),
    ].map((event, ord) => ({ ...event, ord })),
  );
}
