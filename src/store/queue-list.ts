import type postgres from 'postgres';
import { textArray } from './arrays.js';
import type { Sql } from './database.js';

/** Which tasks of the queue are wanted. */
export interface QueueFilter {
  readonly planId: string | undefined;
  /** All of them. */
  readonly labels: readonly string[];
  readonly assignee: string | undefined;
}

/** How a task stands in the queue: the numbers of its column. */
const STANDINGS = { READY: 1, BLOCKED: 2, LEASED: 3, QUARANTINED: 4 } as const;
export type Standing = keyof typeof STANDINGS;

type Fragment = postgres.PendingQuery<postgres.Row[]>;

export const BEST_FIRST = 'ORDER BY q.priority DESC, q.plan_order, q.seq';

/** The filter as conditions on `q`, a row of the queue. */
export const matches = (sql: Sql, { planId, labels, assignee }: QueueFilter): Fragment => sql`
  ${planId === undefined ? sql`` : sql`AND q.plan_id = ${planId}`}
  ${labels.length === 0 ? sql`` : sql`AND q.labels @> ${textArray(sql, labels)}`}
  ${assignee === undefined ? sql`` : sql`AND q.assignee = ${assignee}`}`;

/** So many tasks of a list are looked at for the other things that a filter asks for. */
const LOOKED_AT = 500;
/** So many of a filter's lists are looked at: each costs the same, and one that is short is all it takes. */
const MOST_LISTS = 4;

/** What a search reads: tasks of one standing that match. */
export interface Wanted {
  readonly project: string;
  readonly filter: QueueFilter;
  readonly standing: Standing;
  /** Where to go on, as a condition on `q`. */
  readonly range?: Fragment;
}

/**
 * The lists that hold all tasks that are wanted: one for each thing that the filter asks for, or the project's. Each
 * has an index that gives it best first.
 */
function listsOf(sql: Sql, { project, filter, standing, range = sql`` }: Wanted): Fragment[] {
  const which = sql`q.project = ${project} AND q.standing = ${sql.unsafe(String(STANDINGS[standing]))} ${range}`;
  const { planId, assignee, labels } = filter;
  const lists = [
    ...(planId === undefined ? [] : [sql`queue q WHERE ${which} AND q.plan_id = ${planId}`]),
    ...(assignee === undefined ? [] : [sql`queue q WHERE ${which} AND q.assignee = ${assignee}`]),
    ...labels.map((label) => sql`queue_label q WHERE ${which} AND q.label = ${label}`),
  ];
  return lists.length === 0 ? [sql`queue q WHERE ${which}`] : lists.slice(0, MOST_LISTS);
}

/**
 * A subquery of the best tasks that are wanted, `task_id` in the queue's order. What it reads does not grow with the
 * queue for a filter of one thing. For several, the first tasks of each list are looked at: the list that gets furthest
 * has seen everything up to there, so enough matches are the best ones; so are all, when any list was short. Else few
 * of many match, and all that do are looked up.
 */
export function bestOf(sql: Sql, wanted: Wanted, limit: number): Fragment {
  const lists = listsOf(sql, wanted);
  if (lists.length === 1) return alone(sql, lists, limit);
  const { filter, ...anything } = wanted;
  const [all] = listsOf(sql, { ...anything, filter: { planId: undefined, labels: [], assignee: undefined } });
  return sql`(
    WITH found AS MATERIALIZED (${meeting(sql, wanted, lists, limit)}), rest AS MATERIALIZED (
      SELECT q.task_id, q.priority, q.plan_order, q.seq FROM ${all as Fragment} ${matches(sql, filter)}
        ${filter.labels.length > 1 ? sql`AND cardinality(q.labels) > 1` : sql``}
        AND (SELECT count(*) < ${limit} FROM found) AND (SELECT ${allLong(sql, lists)})
    )
    SELECT q.task_id FROM (SELECT * FROM found UNION SELECT * FROM rest) q ${sql.unsafe(BEST_FIRST)} LIMIT ${limit})`;
}

/**
 * A subquery of tasks that are wanted, `task_id`, and the condition under which there may be more of them. It never
 * reads much, so for a filter of several things it may miss some.
 */
export function someOf(sql: Sql, wanted: Wanted, limit: number): { tasks: Fragment; more: Fragment } {
  const lists = listsOf(sql, wanted);
  return lists.length === 1
    ? { tasks: alone(sql, lists, limit), more: sql`count(*) = ${limit}` }
    : { tasks: sql`(${meeting(sql, wanted, lists, limit)})`, more: allLong(sql, lists) };
}

const alone = (sql: Sql, [list]: readonly Fragment[], limit: number) =>
  sql`(SELECT q.task_id FROM ${list as Fragment} ${sql.unsafe(BEST_FIRST)} LIMIT ${limit})`;

/** Of each list's first tasks the best that match the whole filter. Each stops when it has enough. */
const meeting = (sql: Sql, { filter }: Wanted, lists: readonly Fragment[], limit: number) =>
  joined(
    sql,
    'UNION',
    lists.map(
      (list) => sql`
    (SELECT first.task_id, first.priority, first.plan_order, first.seq
      FROM (SELECT q.project, q.task_id, q.priority, q.plan_order, q.seq FROM ${list}
        ${sql.unsafe(BEST_FIRST)} LIMIT ${LOOKED_AT}) first
      CROSS JOIN LATERAL (
        SELECT FROM queue q WHERE q.project = first.project AND q.task_id = first.task_id ${matches(sql, filter)} OFFSET 0) q
      ORDER BY first.priority DESC, first.plan_order, first.seq LIMIT ${limit})`,
    ),
  );

/** Every list has more tasks than are looked at. */
const allLong = (sql: Sql, lists: readonly Fragment[]) =>
  joined(
    sql,
    'AND',
    lists.map(
      (list) => sql`EXISTS (SELECT FROM ${list} ${sql.unsafe(BEST_FIRST)} OFFSET ${LOOKED_AT} LIMIT 1)`,
    ),
  );

const joined = (sql: Sql, word: string, parts: readonly Fragment[]): Fragment =>
  parts.reduce((all, part) => sql`${all} ${sql.unsafe(word)} ${part}`);
