import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Sql } from '../../src/store/database.js';
import { findCandidates, listReady } from '../../src/store/queue.js';
import type { QueueFilter } from '../../src/store/queue-list.js';
import { createStore, type Store } from '../../src/store/store.js';
import { PROJECT } from '../store/fixture.js';
import { connect, createTestDatabase } from '../support/postgres.js';
import { DEFAULT_SETTINGS } from '../support/service.js';

const TASKS = 20_000;
/** A deadline that is not met. */
const FAR = '9000000000000000';
const ANY: QueueFilter = { planId: undefined, labels: [], assignee: undefined };

let store: Store;
let sql: postgres.Sql;
/** The statements that were run, with their parameters. */
let statements: { text: string; parameters: unknown[] }[] = [];

beforeAll(async () => {
  sql = connect((await createTestDatabase()).url, {
    max: 1,
    types: { bigint: postgres.BigInt } as never,
    debug: (_connection, text, parameters) => statements.push({ text, parameters }),
  });
  const database = {
    poolSize: 1,
    hot: sql as unknown as Sql,
    sql: sql as unknown as Sql,
    orm: undefined as never,
    openListening: undefined as never,
    close: () => sql.end(),
  };
  store = createStore(database, DEFAULT_SETTINGS, { eventsWritten() {}, tasksReady() {}, deadlineSet() {} });
  await sql.unsafe(`
    INSERT INTO task (project, id, title, body, labels, plan_id, plan_order, assignee, created_at, created_by, updated_at)
    SELECT '${PROJECT}', 't' || n, 'task ' || n, '', array_remove(ARRAY[CASE WHEN n % 500 = 0 THEN 'rare' END, CASE WHEN n % 3 = 0 THEN 'red' END,
      CASE WHEN n % 5 = 0 THEN 'last' END, CASE WHEN n % 4 = 2 THEN 'even' WHEN n % 4 = 1 THEN 'odd' END], NULL), CASE WHEN n % 2 = 0 THEN 'plan' || n % 100 END, n, CASE WHEN n % 50 = 0 THEN 'ada' END, 1, 'x', 1
    FROM generate_series(1, ${TASKS}) n;
    -- The tasks that carry "last" have the lowest priority.
    INSERT INTO task_state (project, task_id, status, priority, fencing_token, unmet, lease_id, principal, execution_id,
      granted_at, expires_at, ttl)
    SELECT '${PROJECT}', 't' || n, CASE WHEN leased THEN 2 ELSE 1 END, n % 5, leased::int, (n % 3 = 1)::int,
      CASE WHEN leased THEN 'l' || n END, CASE WHEN leased THEN 'x' END, CASE WHEN leased THEN 'run' END,
      CASE WHEN leased THEN 1 END, CASE WHEN leased THEN ${FAR} END, CASE WHEN leased THEN 1 END
    FROM generate_series(1, ${TASKS}) n, LATERAL (SELECT n % 7 = 0 AND n % 3 <> 1 AS leased) l;
    INSERT INTO lease (project, id, task_id, fencing_token, principal, execution_id, attempt, granted_at, ttl, sweep_at)
    SELECT project, lease_id, task_id, 1, 'x', 'run', 1, 1, 1, ${FAR} FROM task_state WHERE status = 2;
    INSERT INTO lease (project, id, task_id, fencing_token, principal, execution_id, attempt, granted_at, ttl, sweep_at, "end")
    SELECT '${PROJECT}', 'e' || n, 'gone' || n, 1, 'x', 'run', 1, 1, 1, 1, 3 FROM generate_series(1, ${TASKS}) n;
    INSERT INTO dependency (project, task_id, blocker_id, accept_dropped)
    SELECT '${PROJECT}', 't' || n, 't' || greatest(1, n - k), false
    FROM generate_series(10, ${TASKS}) n, generate_series(1, 3) k;
    INSERT INTO queue (project, task_id, standing, priority, plan_id, plan_order, seq, labels, assignee)
    SELECT t.project, t.id, CASE WHEN s.status = 2 THEN 3 WHEN s.unmet > 0 THEN 2 ELSE 1 END, s.priority, t.plan_id, t.plan_order, t.seq, t.labels, t.assignee
    FROM task t JOIN task_state s ON s.task_id = t.id;
    ANALYZE`);
});
afterAll(() => sql.end());

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

/** The plan of the statement that a read sends, as it was executed. */
async function planOf(read: (store: Store) => Promise<unknown>): Promise<PlanNode[]> {
  statements = [];
  await read(store);
  const [sent, ...more] = statements;
  if (!sent || more.length > 0) throw new Error(`${statements.length} statements were sent`);
  const explain = `EXPLAIN (ANALYZE, FORMAT JSON) ${sent.text}`;
  const [row] = await sql.unsafe(explain, sent.parameters as string[]);
  return nodesOf(row?.['QUERY PLAN'][0].Plan);
}

/** It went along an index in the order that is wanted, and read few rows however many there are. */
function expectFew(nodes: readonly PlanNode[], index: RegExp, most = 200): void {
  const names = nodes.map((node) => node['Index Name'] ?? '');
  expect(names).toContainEqual(expect.stringMatching(index));
  expect(
    nodes
      .filter(
        (node) =>
          node['Node Type'] === 'Seq Scan' && node['Actual Loops'] > 0 && node['Relation Name'] !== 'project',
      )
      .map((node) => node['Relation Name']),
  ).toEqual([]);
  const touched = nodes.map(
    (node) => (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
  );
  expect(Math.max(...touched)).toBeLessThanOrEqual(most);
}

/** Several things at once: so many tasks of each list are looked at. */
const LOOKED_AT = 501;

const FILTERS: Record<string, { filter: QueueFilter; index: RegExp; most?: number }> = {
  'no filter': { filter: ANY, index: /^queue_order$/ },
  'a plan': { filter: { ...ANY, planId: 'plan4' }, index: /^queue_plan$/ },
  'an assignee': { filter: { ...ANY, assignee: 'ada' }, index: /^queue_assignee$/ },
  'a rare label': { filter: { ...ANY, labels: ['rare'] }, index: /^queue_label_order$/ },
  'a frequent label': { filter: { ...ANY, labels: ['red'] }, index: /^queue_label_order$/ },
  'a frequent label on the last tasks': {
    filter: { ...ANY, labels: ['last'] },
    index: /^queue_label_order$/,
  },
  'a label of no task': { filter: { ...ANY, labels: ['none'] }, index: /^queue_label_order$/ },
  'two frequent labels': {
    filter: { ...ANY, labels: ['red', 'last'] },
    index: /^queue_label_order$/,
    most: LOOKED_AT,
  },
  'a frequent and a rare label': {
    filter: { ...ANY, labels: ['red', 'rare'] },
    index: /^queue_label_order$/,
    most: LOOKED_AT,
  },
  'two frequent labels that never meet': {
    filter: { ...ANY, labels: ['even', 'odd'] },
    index: /^queue_several_labels$/,
    most: LOOKED_AT,
  },
  'a label and a plan': {
    filter: { ...ANY, labels: ['red'], planId: 'plan4' },
    index: /^queue_plan$/,
    most: LOOKED_AT,
  },
  'a plan and an assignee': {
    filter: { ...ANY, planId: 'plan50', assignee: 'ada' },
    index: /^queue_plan$/,
    most: LOOKED_AT,
  },
};

test.each(Object.keys(FILTERS))(
  'candidates with %s cost the same however many tasks there are',
  async (name) => {
    const { filter, index, most } = FILTERS[name] as (typeof FILTERS)[string];
    expectFew(await planOf((store) => findCandidates(store, PROJECT, filter, 5)), index, most);
  },
);

test.each(Object.keys(FILTERS))('a page of ready tasks with %s costs the same, too', async (name) => {
  const { filter, index, most } = FILTERS[name] as (typeof FILTERS)[string];
  expectFew(await planOf((store) => listReady(store, PROJECT, filter, undefined, 11)), index, most);
});

// It counts to a thousand. Where hardly more match, all of them may be read and sorted instead.
test.each(Object.keys(FILTERS))('and the explanation why nothing is ready with %s', async (name) => {
  const { filter } = FILTERS[name] as (typeof FILTERS)[string];
  expectFew(await planOf((store) => store.explainEmpty({ project: PROJECT, filter })), /^queue_/, 2_000);
});

test('a thousand who ask at once why nothing is ready cost little more than one', async () => {
  statements = [];
  const filters = [ANY, { ...ANY, labels: ['red', 'last'] }, { ...ANY, labels: ['last', 'red'] }];
  const answers = await Promise.all(
    Array.from({ length: 1_000 }, (_, i) =>
      store.explainEmpty({ project: PROJECT, filter: filters[i % 3] as QueueFilter }),
    ),
  );
  expect(answers[0]?.leased).toEqual({ n: 1_000, more: true });
  expect(answers[1]).toEqual(answers[2]);
  // Two different questions, and so many batches.
  expect(statements.length).toBeLessThanOrEqual(2 * 3);
});

test.each([[ANY], [{ ...ANY, labels: ['red'] }]])('so does a page far behind: %o', async (filter) => {
  const after = { priority: 2, planOrder: 10_000, seq: 10_000 };
  expectFew(await planOf((store) => listReady(store, PROJECT, filter, after, 11)), /^queue_(label_)?order$/);
});

/** By another way: all that match, sorted. */
const slowly = (filter: QueueFilter) => sql`
  SELECT task_id FROM queue WHERE project = ${PROJECT} AND standing = 1
    AND (${filter.planId ?? null}::text IS NULL OR plan_id = ${filter.planId ?? null})
    AND (${filter.assignee ?? null}::text IS NULL OR assignee = ${filter.assignee ?? null})
    AND labels @> ${sql.array([...filter.labels])}
  ORDER BY priority DESC, plan_order, seq`;

test.each(Object.keys(FILTERS))('the best with %s are found', async (name) => {
  const { filter } = FILTERS[name] as (typeof FILTERS)[string];
  const all = (await slowly(filter)).map((row) => row.task_id as string);
  for (const limit of [1, 30, 1_000]) {
    const { ready } = await findCandidates(store, PROJECT, filter, limit);
    expect(ready).toEqual(all.slice(0, limit));
  }
  const [last] = await sql`SELECT * FROM queue WHERE project = ${PROJECT} AND task_id = ${all[20] ?? ''}`;
  if (!last) return;
  const after = { priority: last.priority, planOrder: last.plan_order, seq: Number(last.seq) };
  const page = await listReady(store, PROJECT, filter, after, 50);
  expect(page.map(({ task }) => task.id)).toEqual(all.slice(21, 71));
});
