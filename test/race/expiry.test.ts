import type { Sql } from 'postgres';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Agent } from '../support/agent.js';
import { brokenRules } from '../support/history-audit.js';
import { connect, createTestDatabase } from '../support/postgres.js';
import { untilClock } from '../support/row-lock.js';
import { startTestService, type TestService } from '../support/service.js';

let databaseUrl: string;
let sql: Sql;
let services: TestService[];

beforeEach(async () => {
  databaseUrl = (await createTestDatabase()).url;
  sql = connect(databaseUrl, { max: 4 });
  services = [];
});

afterEach(async () => {
  await Promise.all(services.map((service) => service.stop()));
  await sql.end();
});

async function replica(): Promise<TestService> {
  const service = await startTestService({ databaseUrl, settings: { maxExpiries: 0 } });
  services.push(service);
  return service;
}

const personOf = (service: TestService, executionId?: string) =>
  new Agent(service.client(service.ownerToken, executionId));

/** How late each expiry was recorded, in milliseconds. */
async function lateness(): Promise<number[]> {
  const rows = await sql`SELECT (ended_at - expires_at) / 1e3 AS ms FROM lease WHERE "end" = 4`;
  return rows.map(({ ms }) => Number(ms));
}

/** The promise is a second; bench/expiry measures it. A test machine may stand still for longer. */
const SOON_MS = 10_000;

async function expectRecorded(leases: number): Promise<void> {
  await expect.poll(async () => (await lateness()).length, { timeout: SOON_MS }).toBe(leases);
  expect(Math.max(...(await lateness()))).toBeLessThan(SOON_MS);
  expect(Math.min(...(await lateness()))).toBeGreaterThanOrEqual(0);
  expect(await brokenRules(databaseUrl)).toEqual([]);
}

test('an expiry that nobody asks about is recorded by itself, also after a renewal', async () => {
  const person = personOf(await replica(), 'run');
  const [one, renewed] = await Promise.all([person.createTask(), person.createTask()]);
  await person.acquire(one, { ttlMs: 1_300 });
  const held = await person.acquire(renewed, { ttlMs: 1_000 });
  await person.renew(held, 2_200);
  await expectRecorded(2);
});

test('200 leases that expire together are recorded, each once, by two replicas', async () => {
  const [one] = await Promise.all([replica(), replica()]);
  const person = personOf(one, 'run');
  const tasks = await Promise.all(Array.from({ length: 200 }, () => person.createTask()));
  await Promise.all(tasks.map((taskId) => person.acquire(taskId, { ttlMs: 2_000 })));
  await expectRecorded(tasks.length);
});

test('what expired while no server ran is recorded soon after the start', async () => {
  const first = await replica();
  const person = personOf(first, 'run');
  const held = await person.acquire(await person.createTask(), { ttlMs: 1_000 });
  await first.stop();
  await untilClock(sql, held.expiresAt + 200_000);
  expect(await lateness()).toEqual([]);

  const [before] = await sql`SELECT holdfast_now() AS t`;
  await replica();
  await expect.poll(async () => (await lateness()).length, { timeout: SOON_MS }).toBe(1);
  const [lease] = await sql`SELECT ended_at FROM lease`;
  expect(Number(lease?.ended_at) - Number(before?.t)).toBeLessThan(SOON_MS * 1_000);
  expect(await brokenRules(databaseUrl)).toEqual([]);
});

test('when the recording backend dies in the middle, the next sweep records the expiry, once', async () => {
  const one = await replica();
  const person = personOf(one, 'run');
  const taskId = await person.createTask();
  // The statement that records it first stops at its event, where it can be met. Sequences know no rollback.
  await sql.unsafe(`
    CREATE SEQUENCE recordings;
    CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN IF nextval('recordings') = 1 THEN PERFORM pg_sleep(20); END IF; RETURN NEW; END $$;
    CREATE TRIGGER linger BEFORE INSERT ON event FOR EACH ROW WHEN (NEW.kind = 18) EXECUTE FUNCTION linger()`);
  await person.acquire(taskId, { ttlMs: 1_000 });
  const lingering = async () => {
    const rows = await sql`SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'holdfast' AND wait_event = 'PgSleep'`;
    return rows.map(({ pid }) => pid as number);
  };
  await expect.poll(async () => (await lingering()).length, { timeout: 5_000, interval: 5 }).toBe(1);
  const [pid] = await lingering();
  expect(await lateness()).toEqual([]);
  await sql`SELECT pg_terminate_backend(${pid ?? 0})`;
  await expect.poll(async () => (await lateness()).length, { timeout: 5_000 }).toBe(1);
  expect(await brokenRules(databaseUrl)).toEqual([]);
});

test('three replicas and an acquirer meet at each deadline: one expiry, one takeover', async () => {
  const [one, two, three] = [await replica(), await replica(), await replica()];
  const people = [personOf(one, 'a'), personOf(two, 'b'), personOf(three, 'c')] as const;
  const tasks = await Promise.all(Array.from({ length: 30 }, () => people[0].createTask()));
  const outcomes = await Promise.all(
    tasks.map(async (taskId) => {
      const held = await people[0].acquire(taskId, { ttlMs: 1_500 });
      await untilClock(sql, held.expiresAt - 3_000);
      return Promise.all([
        people[1].tryAcquire(taskId),
        people[2].tryAcquire(taskId),
        people[1].tryAcquire(taskId),
      ]);
    }),
  );
  for (const granted of outcomes) {
    const tokens = new Set(granted.flatMap((held) => (held ? [held.fencingToken] : [])));
    expect([...tokens]).toEqual([2n]);
  }
  expect(await lateness()).toHaveLength(tasks.length);
  expect(await brokenRules(databaseUrl)).toEqual([]);
});
