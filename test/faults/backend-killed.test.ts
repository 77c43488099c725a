import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { brokenRules } from '../support/history-audit.js';
import { connect, createTestDatabase } from '../support/postgres.js';
import { newServerFolder, ServerProcess } from '../support/server-process.js';
import { startTestService } from '../support/service.js';
import { Workload } from './workload.js';

const MS = process.env.HOLDFAST_TEST_LONG === '1' ? 120_000 : 6_000;

test('whichever backends die under fenced writes, no change is without its event, and no request done twice', async () => {
  const { url: databaseUrl } = await createTestDatabase();
  const settings = { LOCK_ENFORCEMENT: 'enforce' };
  const two = await ServerProcess.start({ dataDir: newServerFolder(), databaseUrl, settings });
  const one = await startTestService({ settings: { enforcement: 'ENFORCE' }, databaseUrl });
  const token = await one.token('AGENT', 'agent', 'ada');
  let calls = 0;
  const work = new Workload((executionId) => (calls++ % 2 === 0 ? one : two).client(token, executionId));
  const sql = connect(databaseUrl, { max: 2 });
  work.start(8);
  let killed = 0;
  for (
    const until = performance.now() + MS;
    performance.now() < until;
    await sleep(20 + Math.random() * 60)
  ) {
    // Now one in the middle of a statement, now one that has just begun.
    const rows = await sql`
      SELECT pg_terminate_backend(pid) FROM (
        SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'holdfast'
        ORDER BY CASE WHEN ${killed % 2 === 0} THEN extract(epoch FROM backend_start) ELSE (state = 'active')::int END DESC,
          random() LIMIT 1) victim`;
    killed += rows.length;
  }
  // The process itself has outlived them.
  await expect.poll(async () => (await fetch(`${two.url}/readyz`)).status, { timeout: 10_000 }).toBe(200);
  await work.finish();
  expect(killed).toBeGreaterThan(5);
  expect(work.acknowledged.notes.length).toBeGreaterThan(0);
  await work.check(sql);
  expect(await brokenRules(databaseUrl)).toEqual([]);
  await sql.end();
}, 240_000);
