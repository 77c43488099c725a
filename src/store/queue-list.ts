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

const EVERYTHING: QueueFilter = { planId: undefined, labels: [], assignee: undefined };

/** The filter as conditions on `q`, a row of the queue. */
export const matches = (sql: Sql, { planId, labels, assignee }: QueueFilter): Fragment => sql`
  ${planId === undefined ? sql`` : sql`AND q.plan_id = ${planId}`}
  ${labels.length === 0 ? sql`` : sql`AND q.labels @> ${textArray(sql, labels)}`}
  ${assignee === undefined ? sql`` : sql`AND q.assignee = ${assignee}`}`;

/**
 * So many tasks of a list are looked at for the other things that a filter asks for. More would find matches that are
 * rarer without looking up all of them, fewer would be done sooner where there are none.
 */
const LOOKED_AT = 500;
/** So many of a filter's lists are looked at. */
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
 * A subquery of the best tasks that are wanted, `task_id` in the queue's order: as many as `limit` says, or more. What
 * it reads does not grow with the queue for a filter of one thing. For several, the first tasks of their lists are
 * looked at, list by list. A list that gave enough has the best ones, and one that was short has all. Where none did,
 * few of many match, and all that do are looked up.
 */
export function bestOf(sql: Sql, wanted: Wanted, limit: number): Fragment {
  const most = literal(sql, powerOfTwo(limit));
  const lists = listsOf(sql, wanted);
  const [first, ...others] = lists;
  if (first && others.length === 0)
    return sql`(SELECT q.task_id FROM ${first.from} ${BEST(sql)} LIMIT ${most})`;

  const { filter } = wanted;
  const [all] = listsOf(sql, { ...wanted, filter: EVERYTHING });
  return sql`(
    WITH ${searched(sql, wanted, lists, most)}, rest AS MATERIALIZED (
      SELECT q.task_id, q.priority, q.plan_order, q.seq FROM ${all?.from ?? sql``} ${matches(sql, filter)}
        ${filter.labels.length > 1 ? sql`AND cardinality(q.labels) > 1` : sql``} AND ${inconclusive(sql, lists)}
    )
    SELECT q.task_id FROM (${found(sql, lists)} UNION SELECT * FROM rest) q ${BEST(sql)} LIMIT ${most})`;
}

/**
 * A subquery of tasks that are wanted, `task_id`, and the condition under which there may be more of them. It never
 * reads much, so for a filter of several things it may miss some.
 */
export function someOf(sql: Sql, wanted: Wanted, limit: number): { tasks: Fragment; more: Fragment } {
  const most = literal(sql, limit);
  const lists = listsOf(sql, wanted);
  const [first, ...others] = lists;
  if (first && others.length === 0) {
    return {
      tasks: sql`(SELECT q.task_id, false AS inconclusive FROM ${first.from} ${BEST(sql)} LIMIT ${most})`,
      more: sql`count(*) = ${most}`,
    };
  }
  return {
    tasks: sql`(
      WITH ${searched(sql, wanted, lists, most)}
      SELECT task_id, false AS inconclusive FROM (${found(sql, lists)}) f
      UNION ALL SELECT NULL, true WHERE ${inconclusive(sql, lists)})`,
    more: sql`coalesce(bool_or(inconclusive), false)`,
  };
}

/** Tasks in the queue's order: a table and a condition, which an index gives best first. */
interface List {
  readonly from: Fragment;
  /** Its rows are the queue's: they tell what else a filter may ask for. Others are only found by them. */
  readonly whole: boolean;
}

/** The lists that hold all tasks that are wanted: one for each thing that the filter asks for, or the project's. */
function listsOf(sql: Sql, { project, filter, standing, range = sql`` }: Wanted): List[] {
  const which = sql`q.project = ${project} AND q.standing = ${literal(sql, STANDINGS[standing])} ${range}`;
  const { planId, assignee, labels } = filter;
  const lists = [
    ...(planId === undefined ? [] : [sql`queue q WHERE ${which} AND q.plan_id = ${planId}`]),
    ...(assignee === undefined ? [] : [sql`queue q WHERE ${which} AND q.assignee = ${assignee}`]),
  ].map((from) => ({ from, whole: true }));
  const byLabel = labels.map((label) => ({
    from: sql`queue_label q WHERE ${which} AND q.label = ${label}`,
    whole: false,
  }));
  const all = [...lists, ...byLabel];
  return all.length === 0 ? [{ from: sql`queue q WHERE ${which}`, whole: true }] : all.slice(0, MOST_LISTS);
}

/**
 * For each list: `found_N`, the best of its first tasks that match the whole filter, and `open_N`, whether that leaves
 * open what else there is. A list is looked at when all before it left it open.
 */
function searched(sql: Sql, { filter }: Wanted, lists: readonly List[], most: Fragment): Fragment {
  const parts = lists.map(({ from, whole }, n) => {
    const before = n === 0 ? sql`true` : sql`(SELECT is_open FROM ${named(sql, 'open', n - 1)})`;
    const first = sql`(SELECT q.* FROM ${from} ${BEST(sql)} LIMIT ${literal(sql, LOOKED_AT)})`;
    const matching = whole
      ? sql`${first} q WHERE ${before} ${matches(sql, filter)}`
      : sql`${first} q CROSS JOIN LATERAL (
          SELECT FROM (SELECT * FROM queue WHERE project = q.project AND task_id = q.task_id OFFSET 0) q
          WHERE true ${matches(sql, filter)} OFFSET 0) matching
        WHERE ${before}`;
    return sql`
    ${named(sql, 'found', n)} AS MATERIALIZED (
      SELECT q.task_id, q.priority, q.plan_order, q.seq FROM ${matching} ${BEST(sql)} LIMIT ${most}
    ), ${named(sql, 'open', n)} AS MATERIALIZED (
      SELECT ${before} AND (SELECT count(*) < ${most} FROM ${named(sql, 'found', n)})
        AND EXISTS (SELECT FROM ${from} ${BEST(sql)} OFFSET ${literal(sql, LOOKED_AT)} LIMIT 1) AS is_open
    )`;
  });
  return parts.reduce((all, part) => sql`${all}, ${part}`);
}

const found = (sql: Sql, lists: readonly List[]) =>
  lists
    .map((_, n) => sql`SELECT * FROM ${named(sql, 'found', n)}`)
    .reduce((all, part) => sql`${all} UNION ${part}`);

const inconclusive = (sql: Sql, lists: readonly List[]) =>
  sql`(SELECT is_open FROM ${named(sql, 'open', lists.length - 1)})`;

const named = (sql: Sql, name: string, n: number) => sql.unsafe(`${name}_${n}`);
const BEST = (sql: Sql) => sql.unsafe(BEST_FIRST);

/**
 * As text, not as a parameter: one plan serves all calls only when it knows how little is wanted, and making a plan
 * takes longer than following it.
 */
const literal = (sql: Sql, n: number): Fragment => sql`${sql.unsafe(String(n))}`;

/** The statements that differ in a literal are few then. */
const powerOfTwo = (n: number) => 2 ** Math.ceil(Math.log2(n));
