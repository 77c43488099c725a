import type { Sql } from 'postgres';
import { beforeEach, expect, test } from 'vitest';
import { CLAIMED_FOR } from '../../src/domain/delivery.js';
import { SECOND } from '../../src/domain/instant.js';
import { Agent } from '../support/agent.js';
import { stopClock } from '../support/clock.js';
import { brokenRules } from '../support/history-audit.js';
import { connect, createTestDatabase } from '../support/postgres.js';
import { newServerFolder, ServerProcess } from '../support/server-process.js';
import { startTestService } from '../support/service.js';
import { startReceiver } from './receiver.js';

const SOON = { timeout: 15_000, interval: 20 };

let databaseUrl: string;
let sql: Sql;
beforeEach(async () => {
  databaseUrl = (await createTestDatabase()).url;
  sql = connect(databaseUrl, { max: 2 });
  return () => sql.end();
});

/** How many are in each inbox, and how many different ones. */
async function inboxes() {
  const rows = await sql`
    SELECT principal, count(*)::int AS entries, count(DISTINCT (task_id, fencing_token))::int AS expiries
    FROM notification GROUP BY principal ORDER BY principal`;
  return rows.map(({ principal, entries, expiries }) => [principal, entries, expiries]);
}

test('each person is told once of each expiry, though servers are killed while they tell', {
  timeout: 90_000,
}, async () => {
  const dataDir = newServerFolder();
  const start = () =>
    ServerProcess.start({ dataDir, databaseUrl, settings: { WEBHOOK_ALLOW_PRIVATE: 'true' } });
  const receiver = await startReceiver();
  let [one, two] = [await start(), await start()];
  const { projects } = one.client(one.ownerToken);
  await projects.createToken({ principal: 'vic', kind: 2, role: 2 });
  await projects.createToken({ principal: 'mia', kind: 2, role: 3 });
  await projects.createWebhook({ url: receiver.url });
  let expected = 0;
  for (let round = 0; round < 2; round++) {
    const agent = new Agent(two.client(two.ownerToken, `run ${round}`));
    const tasks = await Promise.all(Array.from({ length: 40 }, () => agent.createTask()));
    // Spread over a second, so that there is always something to tell.
    await Promise.all(tasks.map((taskId, n) => agent.acquire(taskId, { ttlMs: 1_000 + n * 25 })));
    const [before] = await sql`SELECT count(*)::int AS n FROM notification`;
    const told = async () => (await sql`SELECT count(*)::int AS n FROM notification`)[0]?.n;
    await expect.poll(told, { timeout: 15_000, interval: 5 }).toBeGreaterThan((before?.n ?? 0) + round * 30);
    await one.end('SIGKILL');
    expected += tasks.length;
    [one, two] = [two, await start()];
    await expect.poll(inboxes, SOON).toEqual([
      ['mia', expected, expected],
      ['owner', expected, expected],
      ['vic', expected, expected],
    ]);
  }
  // One delivery that a killed server made and did not settle waits for its claim to end: none is lost.
  const waiting = async () =>
    (await sql`SELECT message_id FROM webhook_delivery`).map((row) => row.message_id);
  const settled = async () => new Set([...receiver.received.map(({ id }) => id), ...(await waiting())]).size;
  await expect.poll(settled, SOON).toBe(expected);
  expect(await brokenRules(databaseUrl)).toEqual([]);
});

test('when the backend that writes notifications dies in the middle, the next look writes them, once', async () => {
  const service = await startTestService({ databaseUrl });
  await service.token('PERSON', 'viewer', 'vic');
  // The first insert stops where it can be met. Sequences know no rollback.
  await sql.unsafe(`
    CREATE SEQUENCE insertions;
    CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN IF nextval('insertions') = 1 THEN PERFORM pg_sleep(20); END IF; RETURN NEW; END $$;
    CREATE TRIGGER linger BEFORE INSERT ON notification FOR EACH ROW EXECUTE FUNCTION linger()`);
  const agent = new Agent(service.client(service.ownerToken, 'run'));
  await agent.acquire(await agent.createTask(), { ttlMs: 1_000 });
  const lingering = async () => {
    const rows = await sql`SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'holdfast' AND wait_event = 'PgSleep'`;
    return rows.map(({ pid }) => pid as number);
  };
  await expect.poll(async () => (await lingering()).length, SOON).toBe(1);
  // Another replica that looks meanwhile waits for the first one, and does not write the same.
  await startTestService({ databaseUrl });
  const [pid] = await lingering();
  expect(await inboxes()).toEqual([]);
  await sql`SELECT pg_terminate_backend(${pid ?? 0})`;
  await expect.poll(inboxes, SOON).toEqual([
    ['owner', 1, 1],
    ['vic', 1, 1],
  ]);
});

test('what a server was delivering when it was killed is taken over when its claim ends, with the same id', async () => {
  const server = await ServerProcess.start({
    dataDir: newServerFolder(),
    databaseUrl,
    settings: { WEBHOOK_ALLOW_PRIVATE: 'true' },
  });
  const clock = await stopClock(databaseUrl);
  const receiver = await startReceiver();
  receiver.answer = () => () => {};
  const agent = new Agent(server.client(server.ownerToken, 'run'));
  await agent.holdfast.projects.createWebhook({ url: receiver.url });
  await agent.acquire(await agent.createTask(), { ttlMs: 1_000 });
  await clock.advance(2 * SECOND);
  await expect.poll(() => receiver.received.length, SOON).toBe(1);
  await server.end('SIGKILL');

  receiver.answer = () => 204;
  const other = await startTestService({ databaseUrl });
  // The other one has looked at the outbox when it tells of the next expiry, and left the claimed delivery alone.
  const later = new Agent(other.client(server.ownerToken, 'later'));
  await later.acquire(await later.createTask(), { ttlMs: 1_000 });
  await clock.advance(2 * SECOND);
  await expect.poll(() => receiver.received.length, SOON).toBe(2);
  expect(receiver.taken()).toHaveLength(1);
  await clock.advance(CLAIMED_FOR);
  await expect.poll(() => receiver.taken().length, SOON).toBe(2);
  expect(receiver.received[2]?.id).toBe(receiver.received[0]?.id);
  await clock.close();
});
