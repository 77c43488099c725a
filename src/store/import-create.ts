import type { Actor, EventDraft } from '../domain/event.js';
import { grouped } from '../domain/grouped.js';
import type { TaskState } from '../domain/task-state.js';
import { eventColumns } from './apply-json.js';
import { textArray } from './arrays.js';
import { statusCodes } from './codes.js';
import type { Store } from './store.js';

/** A task that an import brings. */
export interface BroughtTask {
  readonly id: string;
  readonly externalKey: string;
  readonly title: string;
  readonly body: string;
  /** Finished ones are never up for grabs, not even for a moment. */
  readonly status: 'OPEN' | 'DONE' | 'DROPPED';
  readonly priority: number;
  readonly labels: readonly string[];
  readonly planId: string | undefined;
  readonly parentId: string | undefined;
  readonly assignee: string;
  /** What came of it, or why it was dropped. */
  readonly result: string;
}

/** `taskId` waits for `blockerId`; at least one of them is new. The edges of parents accept DROPPED, and only they. */
interface BroughtEdge {
  readonly taskId: string;
  readonly blockerId: string;
  readonly acceptDropped: boolean;
}

/** A task that is there and gets sub-tasks, as the decision to add to it saw it, and what is told of that decision. */
export interface ExtendedParent {
  readonly state: TaskState;
  readonly events: readonly EventDraft[];
}

export interface Delivery {
  readonly tasks: readonly BroughtTask[];
  readonly edges: readonly BroughtEdge[];
  readonly parents: readonly ExtendedParent[];
  /** What the check for cycles relied on; undefined when none of them could lead through tasks that are there. */
  readonly graphVersion: bigint | undefined;
  /** And on whose edges as they were read: tasks that are there and that new ones wait for. */
  readonly blockers: readonly TaskState[];
}

/**
 * Creates many tasks with all their edges in one statement, so that none of them is ready before what it waits for is
 * there. Tasks that are there and at the other end of an edge are locked, and counted anew. They get their places in
 * plans, their sequence numbers and their events in the order given.
 *
 * As in `createTask`: the fencing counters are taken first, since that waits for a deletion under way.
 *
 * @returns false when a parent, the graph or an end of an edge has changed since it was read; nothing was done then
 * @throws a DUPLICATE fault for `task_external_key`
 */
export async function createTasks(
  { database: { sql }, commits }: Store,
  project: string,
  { tasks, edges, parents, graphVersion, blockers }: Delivery,
  actor: Actor,
): Promise<boolean> {
  const fresh = new Set(tasks.map(({ id }) => id));
  const there = [...new Set(edges.flatMap(({ taskId, blockerId }) => [taskId, blockerId]))].filter(
    (id) => !fresh.has(id),
  );
  const rows = await sql`
    WITH fresh AS MATERIALIZED (
      SELECT * FROM jsonb_to_recordset(${tasksJson(tasks)}::text::jsonb) AS f(
        ord integer, id text, external_key text, title text, body text, status smallint, priority integer,
        labels jsonb, plan_id text, parent_id text, assignee text, result text)
    ), edge AS MATERIALIZED (
      SELECT * FROM jsonb_to_recordset(${edgesJson(edges)}::text::jsonb) AS e(
        task_id text, blocker_id text, accept_dropped boolean)
    ), locked AS MATERIALIZED (
      SELECT s.* FROM (SELECT id FROM unnest(${textArray(sql, there)}) AS k(id) ORDER BY id) k
      CROSS JOIN LATERAL (SELECT * FROM task_state WHERE project = ${project} AND task_id = k.id FOR UPDATE) s
    ), clock AS MATERIALIZED (
      SELECT holdfast_now() AS t, after_locks.n FROM (SELECT count(*) AS n FROM locked) after_locks
    ), graph AS (
      UPDATE project SET graph_version = graph_version + 1
      WHERE id = ${project} AND graph_version = ${graphVersion ?? null}
      RETURNING id
    ), kept AS MATERIALIZED (
      SELECT clock.t FROM clock WHERE clock.n = ${there.length}
        AND (${graphVersion === undefined} OR EXISTS (SELECT 1 FROM graph))
        AND NOT EXISTS (
          SELECT 1 FROM jsonb_to_recordset(${expectedJson(parents, blockers)}::text::jsonb) AS x(
            task_id text, lease_version bigint, deps_version bigint, before bigint)
          LEFT JOIN locked l ON l.task_id = x.task_id
            AND l.deps_version = x.deps_version
            AND (x.lease_version IS NULL OR l.lease_version = x.lease_version)
            AND (x.before IS NULL OR clock.t < x.before)
          WHERE l.task_id IS NULL)
    ), fenced AS (
      INSERT INTO fence (project, external_key, fencing_token)
      SELECT ${project}, f.external_key, (SELECT counters_from FROM meta) FROM (SELECT external_key FROM fresh ORDER BY external_key) f, kept
      ON CONFLICT (project, external_key) DO UPDATE SET fencing_token = fence.fencing_token
      RETURNING external_key, fencing_token
    ), step AS (
      UPDATE plan p SET last_order = p.last_order + c.n
      FROM (SELECT plan_id, count(*)::integer AS n FROM fresh GROUP BY plan_id) c, kept
      WHERE p.project = ${project} AND p.id = c.plan_id
      RETURNING p.id, p.last_order - c.n AS last_before
    ), gained AS MATERIALIZED (
      SELECT task_id, sum(blockers)::integer AS blockers, sum(unmet)::integer AS unmet,
        sum(dependents)::integer AS dependents
      FROM (
        SELECT e.task_id, 1 AS blockers, 0 AS dependents,
          CASE WHEN b.status = 3 OR (b.status = 4 AND e.accept_dropped) THEN 0 ELSE 1 END AS unmet
        FROM edge e JOIN (SELECT id, status FROM fresh UNION ALL SELECT task_id, status FROM locked) b
          ON b.id = e.blocker_id
        UNION ALL SELECT blocker_id, 0, 1, 0 FROM edge
      ) ends GROUP BY task_id
    ), go AS MATERIALIZED (
      SELECT f.*, ARRAY(SELECT jsonb_array_elements_text(f.labels)) AS label_array, kept.t, fenced.fencing_token,
        coalesce(g.unmet, 0) AS unmet, coalesce(g.blockers, 0) AS blockers, coalesce(g.dependents, 0) AS dependents,
        coalesce(
          step.last_before + row_number() OVER (PARTITION BY f.plan_id ORDER BY f.ord), 0)::integer AS plan_order
      FROM kept CROSS JOIN fresh f JOIN fenced ON fenced.external_key = f.external_key
      LEFT JOIN step ON step.id = f.plan_id LEFT JOIN gained g ON g.task_id = f.id
    ), t AS (
      INSERT INTO task (project, id, title, body, labels, plan_id, plan_order, parent_id, external_key, assignee,
        result, created_at, created_by, updated_at, closed_at, closed_by)
      SELECT ${project}, id, title, body, label_array, plan_id, plan_order,
        parent_id, external_key, assignee, CASE WHEN status = 3 THEN result END, t, ${actor.principal}, t,
        CASE WHEN status <> 1 THEN t END, CASE WHEN status <> 1 THEN ${actor.principal} END
      FROM go ORDER BY ord RETURNING id, seq
    ), s AS (
      INSERT INTO task_state (project, task_id, status, priority, fencing_token, unmet, blockers, dependents)
      SELECT ${project}, id, status, priority, fencing_token, unmet, blockers, dependents FROM go
    ), queued AS (
      -- Never a join of more than two such sets: the planner knows nothing of their sizes, and may nest the loops.
      INSERT INTO queue (project, task_id, standing, priority, plan_id, plan_order, seq, labels, assignee)
      SELECT ${project}, go.id, CASE WHEN go.unmet > 0 THEN 2 ELSE 1 END, go.priority, go.plan_id, go.plan_order,
        t.seq, go.label_array, go.assignee
      FROM go JOIN t ON t.id = go.id WHERE go.status = 1
    ), edged AS (
      INSERT INTO dependency (project, task_id, blocker_id, accept_dropped)
      SELECT ${project}, task_id, blocker_id, accept_dropped FROM edge, kept
    ), counted AS (
      UPDATE task_state x SET blockers = x.blockers + g.blockers, unmet = x.unmet + g.unmet,
        dependents = x.dependents + g.dependents, deps_version = x.deps_version + 1
      FROM gained g JOIN locked l ON l.task_id = g.task_id CROSS JOIN kept
      WHERE x.project = ${project} AND x.task_id = g.task_id
      RETURNING x.task_id, x.status, x.unmet, x.fencing_token
    ), requeued AS (
      UPDATE queue q SET standing = 2 FROM counted c
      WHERE c.status = 1 AND c.unmet > 0 AND q.project = ${project} AND q.task_id = c.task_id
    ), told AS (
      INSERT INTO event (project, kind, at, task_id, actor, actor_kind, execution_id, fencing_token, payload, once_key)
      SELECT ${project}, e.kind, kept.t, e.task_id, e.actor, e.actor_kind, e.execution_id,
        coalesce(go.fencing_token, c.fencing_token), e.payload, e.once || ':' || kept.t / 60000000
      FROM kept CROSS JOIN jsonb_to_recordset(${eventsJson(tasks, edges, parents, actor)}::text::jsonb) AS e(
        task_id text, ord integer, kind smallint, actor text, actor_kind smallint, execution_id text,
        payload jsonb, once text)
      LEFT JOIN go ON go.id = e.task_id LEFT JOIN counted c ON c.task_id = e.task_id
      WHERE e.kind <> 3 OR go.unmet = 0
      ORDER BY e.ord
      ON CONFLICT (project, once_key) WHERE once_key IS NOT NULL DO UPDATE SET repeats = event.repeats + 1
    )
    SELECT 1 FROM kept`;
  if (rows.length === 0) return false;
  commits.eventsWritten();
  commits.tasksReady(project);
  return true;
}

function tasksJson(tasks: readonly BroughtTask[]): string {
  return JSON.stringify(
    tasks.map(({ externalKey, planId, parentId, status, assignee, ...task }, ord) => ({
      ...task,
      ord,
      external_key: externalKey,
      plan_id: planId,
      parent_id: parentId,
      status: statusCodes.code(status),
      assignee: assignee || null,
    })),
  );
}

function edgesJson(edges: readonly BroughtEdge[]): string {
  return JSON.stringify(
    edges.map(({ taskId, blockerId, acceptDropped }) => ({
      task_id: taskId,
      blocker_id: blockerId,
      accept_dropped: acceptDropped,
    })),
  );
}

function expectedJson(parents: readonly ExtendedParent[], blockers: readonly TaskState[]): string {
  return JSON.stringify([
    ...parents.map(({ state }) => ({
      task_id: state.taskId,
      lease_version: state.leaseVersion.toString(),
      deps_version: state.depsVersion.toString(),
      before: state.lease?.expiresAt,
    })),
    ...blockers.map(({ taskId, depsVersion }) => ({ task_id: taskId, deps_version: depsVersion.toString() })),
  ]);
}

function eventsJson(
  tasks: readonly BroughtTask[],
  edges: readonly BroughtEdge[],
  parents: readonly ExtendedParent[],
  actor: Actor,
): string {
  const waitsFor = grouped(
    edges.filter(({ acceptDropped }) => !acceptDropped),
    ({ taskId }) => taskId,
  );
  const blockedBy = ({ id }: BroughtTask) => (waitsFor.get(id) ?? []).map(({ blockerId }) => blockerId);
  return JSON.stringify(
    [
      ...tasks.flatMap((task) => ownEvents(task, blockedBy(task), actor)),
      ...parents.flatMap(({ state, events }) => events.map((event) => told(state.taskId, event))),
      ...edges.flatMap((edge) => (edge.acceptDropped ? [told(edge.taskId, childEvent(edge, actor))] : [])),
    ].map((event, ord) => ({ ...event, ord })),
  );
}

const told = (taskId: string, event: EventDraft) => ({ task_id: taskId, ...eventColumns(event) });

/** As when a sub-task is created alone: the parent's own history tells that it waits. */
function childEvent({ blockerId, acceptDropped }: BroughtEdge, actor: Actor): EventDraft {
  return { kind: 'DEPENDENCY_ADDED', actor, payload: { blockedBy: blockerId, acceptDropped } };
}

function ownEvents(task: BroughtTask, blockedBy: readonly string[], actor: Actor) {
  const created: EventDraft = {
    kind: 'TASK_CREATED',
    actor,
    payload: {
      title: task.title,
      status: task.status,
      priority: task.priority,
      labels: task.labels,
      ...(task.planId !== undefined && { planId: task.planId }),
      ...(task.parentId !== undefined && { parentId: task.parentId }),
      externalKey: task.externalKey,
      blockedBy,
    },
  };
  return [created, next(task, actor)].map((event) => told(task.id, event));
}

function next({ status, result }: BroughtTask, actor: Actor): EventDraft {
  switch (status) {
    case 'OPEN':
      return { kind: 'TASK_READY', payload: { cause: 'CREATED' } };
    case 'DONE':
      return { kind: 'TASK_COMPLETED', actor, payload: { result } };
    case 'DROPPED':
      return { kind: 'TASK_DROPPED', actor, payload: { reason: result, stillBlocked: [] } };
  }
}
