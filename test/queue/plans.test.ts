import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Sql } from '../../src/store/database.js';
import { findCandidates, listReady, type QueueFilter } from '../../src/store/queue.js';
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
    SELECT '${PROJECT}', 't' || n, 'task ' || n, '', CASE WHEN n % 500 = 0 THEN '{rare}' WHEN n % 3 = 0 THEN '{red}'
      ELSE '{}' END::text[], CASE WHEN n % 2 = 0 THEN 'plan' || n % 100 END, n, CASE WHEN n % 50 = 0 THEN 'ada' END, 1, 'x', 1
    FROM generate_series(1, ${TASKS}) n;
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
function expectFew(nodes: readonly PlanNode[], index: RegExp): void {
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
  expect(Math.max(...touched)).toBeLessThanOrEqual(200);
}

const FILTERS: Record<string, { filter: QueueFilter; index: RegExp }> = {
  'no filter': { filter: ANY, index: /^queue_ready$/ },
  'a plan': { filter: { ...ANY, planId: 'plan4' }, index: /^queue_ready(_plan)?$/ },
  'an assignee': { filter: { ...ANY, assignee: 'ada' }, index: /^queue_ready(_assignee)?$/ },
  'a rare label': { filter: { ...ANY, labels: ['rare'] }, index: /^queue_ready(_labels)?$/ },
};

test.each(Object.keys(FILTERS))(
  'candidates with %s cost the same however many tasks there are',
  async (name) => {
    const { filter, index } = FILTERS[name] as (typeof FILTERS)[string];
    expectFew(await planOf((store) => findCandidates(store, PROJECT, filter, 5)), index);
  },
);

test.each(Object.keys(FILTERS))('a page of ready tasks with %s costs the same, too', async (name) => {
  const { filter, index } = FILTERS[name] as (typeof FILTERS)[string];
  expectFew(await planOf((store) => listReady(store, PROJECT, filter, undefined, 11)), index);
});

test('so does a page far behind', async () => {
  const after = { priority: 2, planOrder: 10_000, seq: 10_000 };
  expectFew(await planOf((store) => listReady(store, PROJECT, ANY, after, 11)), /^queue_ready$/);
});
