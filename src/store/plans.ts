import type { Actor, EventDraft } from '../domain/event.js';
import type { Micros } from '../domain/instant.js';
import { eventColumns } from './apply-json.js';
import { textArray } from './arrays.js';
import type { Sql } from './database.js';
import { type RequestKey, remembering } from './requests.js';
import type { Store } from './store.js';
import { maybeText, micros, type Row, SELECT_STATE, SELECT_TASK, stateOf, taskOf } from './task-row.js';
import type { TaskWithState } from './tasks.js';

/** An ordered set of tasks, with its progress. */
export interface Plan {
  readonly id: string;
  readonly project: string;
  readonly title: string;
  readonly body: string;
  readonly externalKey: string | undefined;
  readonly stepsDone: number;
  /** Without the dropped ones. */
  readonly stepsTotal: number;
  readonly createdAt: Micros;
  readonly createdBy: string;
}

const SELECT_PLAN = `p.*, steps.* FROM plan p
    LEFT JOIN LATERAL (
      SELECT count(*) FILTER (WHERE s.status = 3) AS steps_done, count(*) FILTER (WHERE s.status <> 4) AS steps_total
      FROM task t JOIN task_state s ON s.project = t.project AND s.task_id = t.id
      WHERE t.project = p.project AND t.plan_id = p.id
    ) steps ON true`;

function planOf(row: Row): Plan {
  return {
    id: row.id as string,
    project: row.project as string,
    title: row.title as string,
    body: row.body as string,
    externalKey: maybeText(row.external_key),
    stepsDone: micros(row.steps_done ?? 0),
    stepsTotal: micros(row.steps_total ?? 0),
    createdAt: micros(row.created_at),
    createdBy: row.created_by as string,
  };
}

/** @throws a DUPLICATE fault for `plan_external_key` or the request */
export async function createPlan(
  { database: { sql }, commits }: Store,
  project: string,
  plan: { id: string; title: string; body: string; externalKey: string | undefined },
  actor: Actor,
  request: RequestKey | undefined,
): Promise<Plan> {
  const event = eventColumns({
    kind: 'PLAN_CREATED',
    actor,
    payload: { planId: plan.id, title: plan.title, changes: [] },
  });
  const [row] = await sql<Row[]>`
    WITH clock AS MATERIALIZED (SELECT holdfast_now() AS t), made AS (
      INSERT INTO plan (project, id, title, body, external_key, created_at, created_by)
      SELECT ${project}, ${plan.id}, ${plan.title}, ${plan.body}, ${plan.externalKey ?? null}, t, ${actor.principal}
      FROM clock RETURNING *
    ), told AS (
      INSERT INTO event (project, kind, at, actor, actor_kind, execution_id, payload)
      SELECT ${project}, ${event.kind}, t, ${actor.principal}, ${event.actor_kind ?? null}, ${actor.executionId ?? null},
        ${JSON.stringify(event.payload)}::text::jsonb
      FROM clock
    ), remembered AS (${remembering(sql, project, request && { ...request, ref: plan.id }, { made: 'clock', at: 't' })}
    )
    SELECT * FROM made`;
  commits.eventsWritten();
  return planOf(row as Row);
}

export async function findPlan(
  { database: { sql } }: Store,
  project: string,
  by: { readonly planId: string } | { readonly externalKey: string },
): Promise<Plan | undefined> {
  const which = 'planId' in by ? sql`p.id = ${by.planId}` : sql`p.external_key = ${by.externalKey}`;
  const [row] = await sql<Row[]>`
    SELECT ${sql.unsafe(SELECT_PLAN)} WHERE p.project = ${project} AND ${which}`;
  return row && planOf(row);
}

/** A plan's steps in order, after a step's order. */
export async function listSteps(
  { database: { sql } }: Store,
  project: string,
  planId: string,
  after: number,
  limit: number,
): Promise<TaskWithState[]> {
  const rows = await sql<Row[]>`
    SELECT holdfast_now() AS now, ${sql.unsafe(SELECT_TASK)}, ${sql.unsafe(SELECT_STATE)}
    FROM task t JOIN task_state s ON s.project = t.project AND s.task_id = t.id
    WHERE t.project = ${project} AND t.plan_id = ${planId} AND t.plan_order > ${after}
    ORDER BY t.plan_order LIMIT ${limit}`;
  return rows.map((row) => ({ now: micros(row.now), task: taskOf(row), state: stateOf(row) }));
}

/** Plans by id, which rises with time, after an id. */
export async function listPlans(
  { database: { sql } }: Store,
  project: string,
  after: string,
  limit: number,
): Promise<Plan[]> {
  const rows = await sql<Row[]>`
    SELECT ${sql.unsafe(SELECT_PLAN)} WHERE p.project = ${project} AND p.id > ${after} ORDER BY p.id LIMIT ${limit}`;
  return rows.map(planOf);
}

/** A plan's title and text, and the ids of its steps in order, with what changing them relies on. */
export interface PlanRead {
  readonly title: string;
  readonly body: string;
  readonly stepIds: readonly string[];
  readonly version: string;
}

export async function readPlan(
  { database: { sql } }: Store,
  project: string,
  planId: string,
): Promise<PlanRead | undefined> {
  const [row] = await sql<Row[]>`
    SELECT title, body, last_order || '.' || version AS version, (
      SELECT json_agg(id ORDER BY plan_order) FROM task WHERE project = p.project AND plan_id = p.id) AS step_ids
    FROM plan p WHERE project = ${project} AND id = ${planId}`;
  return (
    row && {
      title: row.title as string,
      body: row.body as string,
      stepIds: (row.step_ids as string[] | null) ?? [],
      version: row.version as string,
    }
  );
}

export interface PlanChange {
  readonly title?: string;
  readonly body?: string;
  /** All steps of the plan, in their new order. */
  readonly stepIds?: readonly string[];
}

/**
 * Changes a plan, and with the order of its steps where they stand in the queue. The steps' rows are not locked:
 * their order is the plan's, and the plan's row is.
 *
 * @returns false when the plan, or the set of its steps, has changed since it was read
 */
export async function updatePlan(
  { database: { sql }, commits }: Store,
  project: string,
  planId: string,
  read: PlanRead,
  { title, body, stepIds }: PlanChange,
  event: EventDraft,
): Promise<boolean> {
  const columns = eventColumns(event);
  const order = stepIds
    ? sql`, place AS (
      SELECT id, n::integer FROM unnest(${textArray(sql, stepIds)}) WITH ORDINALITY AS k(id, n)
    ), placed AS (
      UPDATE task t SET plan_order = place.n FROM place, changed
      WHERE t.project = ${project} AND t.id = place.id AND t.plan_id = ${planId}
    )`
    : sql``;
  const change = (transaction: Sql) => transaction`
    WITH locked AS MATERIALIZED (
      SELECT id, last_order || '.' || version AS version FROM plan WHERE project = ${project} AND id = ${planId} FOR UPDATE
    ), changed AS (
      UPDATE plan p SET title = coalesce(${title ?? null}, title), body = coalesce(${body ?? null}, body),
        last_order = greatest(last_order, ${stepIds?.length ?? 0}), version = p.version + 1
      FROM locked WHERE p.project = ${project} AND p.id = locked.id AND locked.version = ${read.version}
      RETURNING p.id
    ) ${order}, told AS (
      INSERT INTO event (project, kind, at, actor, actor_kind, execution_id, payload)
      SELECT ${project}, ${columns.kind}, holdfast_now(), ${columns.actor ?? null}, ${columns.actor_kind ?? null},
        ${columns.execution_id ?? null}, ${JSON.stringify(columns.payload)}::text::jsonb
      FROM changed
    )
    SELECT id FROM changed`;
  // Two statements: a step that was reopened while the first waited for its row is in the queue by now, and the first,
  // with its older snapshot, would miss it. One that is reopened later waits for the row, and sees the new order. Should
  // the connection die between them, nothing is changed: the second alone, on another connection, finds nothing to do.
  const requeue = (transaction: Sql) => transaction`
    UPDATE queue q SET plan_order = t.plan_order FROM task t
    WHERE t.project = ${project} AND t.plan_id = ${planId}
      AND q.project = t.project AND q.task_id = t.id AND q.plan_order <> t.plan_order`;
  const changed = stepIds
    ? await sql.begin(async (transaction) => {
        const rows = await change(transaction as unknown as Sql);
        if (rows.length > 0) await requeue(transaction as unknown as Sql);
        return rows.length > 0;
      })
    : (await change(sql)).length > 0;
  if (changed) commits.eventsWritten();
  return changed;
}
