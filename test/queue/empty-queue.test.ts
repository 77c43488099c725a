import type { Sql } from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Board, startBoard } from '../rpc/board.js';
import { type MovableClock, stopClock } from '../support/clock.js';
import { connect } from '../support/postgres.js';

const MINUTE = 60_000_000;

let board: Board;
let sql: Sql;
let clock: MovableClock;

beforeAll(async () => {
  board = await startBoard({ withFeed: false });
  sql = connect(board.service.databaseUrl, { max: 1 });
  clock = await stopClock(board.service.databaseUrl);
});
afterAll(async () => {
  await clock.close();
  await sql.end();
});

/** Tasks that cannot be leased, all alike. Leased ones end in five minutes. */
async function fill(project: string, n: number, standing: 2 | 3, labels: string[]): Promise<void> {
  const id = `${labels.join('-')}${standing}-`;
  await sql`
    INSERT INTO task (project, id, title, body, labels, created_at, created_by, updated_at)
    SELECT ${project}, ${id} || n, 'a task', '', ${`{${labels.join(',')}}`}::text[], 1, 'x', 1
    FROM generate_series(1, ${n}::integer) n`;
  await sql`
    INSERT INTO task_state (project, task_id, status, priority, fencing_token, unmet, expires_at)
    SELECT ${project}, ${id} || n, ${standing === 3 ? 2 : 1}, 0, 0, ${standing === 3 ? 0 : 1},
      CASE WHEN ${standing === 3} THEN holdfast_now() + ${5 * MINUTE} END FROM generate_series(1, ${n}::integer) n`;
  await sql`
    INSERT INTO queue (project, task_id, standing, priority, plan_order, seq, labels)
    SELECT project, id, ${standing}::smallint, 0, plan_order, seq, labels FROM task
    WHERE project = ${project} AND id LIKE ${`${id}%`}`;
}

async function whyEmpty(project: string, filter: { labels?: string[] } = {}) {
  await board.owner.projects.getProject({ project }).catch(async () => {
    await board.owner.projects.createProject({ project, title: project });
  });
  const { outcome } = await board.owner.leases.acquireNextTask({ project, executionId: 'run', ...filter });
  return outcome.case === 'refusal' ? outcome.value.advice : outcome.case;
}

const AGAIN = 'Ask again with wait, or after retry_after.';

test('nothing at all is ready, and nothing that matches', async () => {
  expect(await whyEmpty('empty')).toBe('Nothing is ready: every task is finished.');
  await fill('empty', 2, 2, ['red']);
  expect(await whyEmpty('empty', { labels: ['blue'] })).toBe(
    'Nothing is ready: no unfinished task matches your filter.',
  );
  expect(await whyEmpty('empty', { labels: ['red'] })).toBe(`Nothing is ready: 2 blocked. ${AGAIN}`);
});

test('a few among many are counted exactly', async () => {
  await fill('many', 1_500, 2, ['red']);
  await fill('many', 3, 2, ['rare']);
  await fill('many', 2, 3, ['rare']);
  expect(await whyEmpty('many', { labels: ['rare'] })).toBe(
    `Nothing is ready: 2 leased (next expiry in 5 min), 3 blocked. ${AGAIN}`,
  );
});

test('counting stops at a thousand', async () => {
  await fill('most', 1_001, 2, ['red']);
  await fill('most', 1_001, 3, []);
  expect(await whyEmpty('most')).toBe(
    `Nothing is ready: 1000 or more leased (next expiry within 5 min), 1000 or more blocked. ${AGAIN}`,
  );
});

test('of several things that many tasks have, but few together, it does not claim that none does', async () => {
  await fill('several', 600, 2, ['red']);
  await fill('several', 600, 2, ['blue']);
  expect(await whyEmpty('several', { labels: ['red', 'blue'] })).toBe(
    `Nothing ready matches your filter. ${AGAIN}`,
  );
  expect(await whyEmpty('several', { labels: ['red', 'green'] })).toBe(
    'Nothing is ready: no unfinished task matches your filter.',
  );
  await fill('several', 1, 2, ['red', 'green']);
  expect(await whyEmpty('several', { labels: ['red', 'green'] })).toBe(
    `Nothing is ready: 1 blocked. ${AGAIN}`,
  );
});
