import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Agent } from '../support/agent.js';
import { brokenRules } from '../support/history-audit.js';
import { connect } from '../support/postgres.js';
import { holdRow, untilWaiting } from '../support/row-lock.js';
import { startTestService, type TestService } from '../support/service.js';

/** Abort after so many milliseconds, from before the call is sent until after its answer. */
const MOMENTS = Array.from({ length: process.env.HOLDFAST_TEST_LONG === '1' ? 400 : 80 }, (_, i) => i % 40);

let service: TestService;
let sql: Sql;
let token: string;
let person: Agent;

beforeAll(async () => {
  service = await startTestService({ settings: { maxExpiries: 0 } });
  sql = connect(service.databaseUrl, { max: 2 });
  token = await service.token('AGENT', 'agent', 'ada');
  person = new Agent(service.client(service.ownerToken, 'person'));
});

afterAll(() => sql.end());

const agent = (executionId: string) => new Agent(service.client(token, executionId));

/** Aborts an acquire after so long, by its signal or by cutting its connection. Tells whether it was too late. */
async function abortedAcquire(taskId: string, requestId: string, ms: number, cut: boolean): Promise<boolean> {
  const caller = agent(`run-${requestId}`);
  await caller.holdfast.projects.whoAmI({});
  const abort = new AbortController();
  const answer = caller.ask(taskId, { requestId, ttlMs: 1_500, signal: abort.signal }).then(
    () => true,
    () => false,
  );
  await sleep(ms);
  if (cut) caller.holdfast.close();
  else abort.abort();
  return answer;
}

/** Nothing of the server's is under way in the database, and no lock is left behind. */
async function expectQuiet(): Promise<void> {
  await expect
    .poll(
      async () => {
        const [row] = await sql`
          SELECT count(*) FILTER (WHERE a.state <> 'idle')::int AS busy, count(l.pid)::int AS locks
          FROM pg_stat_activity a LEFT JOIN pg_locks l ON l.pid = a.pid
          WHERE a.datname = current_database() AND a.application_name = 'holdfast'`;
        return row;
      },
      { timeout: 5_000, interval: 5 },
    )
    .toEqual({ busy: 0, locks: 0 });
}

test('an acquire that is aborted at any moment is found by its retry, or expires by itself', async () => {
  let answered = 0;
  let granted = 0;
  const unseen: string[] = [];
  await Promise.all(
    Array.from({ length: 4 }, async (_, lane) => {
      for (const [i, ms] of MOMENTS.entries()) {
        if (i % 4 !== lane) continue;
        const taskId = await person.createTask();
        const requestId = randomUUID();
        if (await abortedAcquire(taskId, requestId, ms, i % 3 === 0)) answered++;
        if (i % 2 === 0) {
          // Nobody comes back for it.
          unseen.push(taskId);
          continue;
        }
        const before = await sql`SELECT id FROM lease WHERE task_id = ${taskId}`;
        const retry = agent(`run-${requestId}`);
        const held = await retry.acquire(taskId, { requestId, ttlMs: 1_500 });
        expect(held.fencingToken).toBe(1n);
        if (before.length > 0) {
          granted++;
          expect(held.leaseId).toBe(before[0]?.id);
        }
        await retry.release(held);
      }
    }),
  );
  // Otherwise the aborts came all too early, or all too late.
  expect(granted).toBeGreaterThan(0);
  expect(answered).toBeLessThan(MOMENTS.length);

  await expect
    .poll(async () => (await sql`SELECT id FROM lease WHERE "end" IS NULL`).length, { timeout: 5_000 })
    .toBe(0);
  const next = await Promise.all(unseen.map((taskId) => person.tryAcquire(taskId)));
  expect(next.filter((held) => held === undefined)).toEqual([]);
  await expectQuiet();
  expect(await brokenRules(service.databaseUrl)).toEqual([]);
}, 60_000);

test('acquires that are aborted while they wait for a row leave nothing behind', async () => {
  const taskId = await person.createTask();
  const row = await holdRow(sql, 'task_state', 'task_id', taskId);
  const requestId = randomUUID();
  const waiting = abortedAcquire(taskId, requestId, 300, true);
  await untilWaiting(sql, 1);
  expect(await waiting).toBe(false);
  await row.release();
  await expectQuiet();
  const held = await agent(`run-${requestId}`).acquire(taskId, { requestId, ttlMs: 1_500 });
  expect(held.fencingToken).toBe(1n);
  expect(await brokenRules(service.databaseUrl)).toEqual([]);
});
