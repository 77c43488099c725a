import { setTimeout as sleep } from 'node:timers/promises';
import { WriteRejected } from '@holdfast/client';
import { beforeAll, expect, test } from 'vitest';
import { Agent, type Held } from '../support/agent.js';
import { brokenRules } from '../support/history-audit.js';
import { connect } from '../support/postgres.js';
import { startTestService, type TestService } from '../support/service.js';

const TASKS = 60;
const ROUNDS = process.env.HOLDFAST_TEST_LONG === '1' ? 170 : 5;
const TTL_MS = 1_000;

let services: [TestService, TestService];
/** From this process's clock to the database's, in milliseconds. */
let offset: number;

beforeAll(async () => {
  const one = await startTestService({ settings: { maxExpiries: 0, enforcement: 'ENFORCE' } });
  const other = await startTestService({
    settings: { maxExpiries: 0, enforcement: 'ENFORCE' },
    databaseUrl: one.databaseUrl,
  });
  services = [one, other];
  const sql = connect(one.databaseUrl, { max: 1 });
  await sql`SELECT 1`;
  const [row] = await sql`SELECT holdfast_now() AS t`;
  offset = Number(row?.t) / 1_000 - Date.now();
  await sql.end();
});

/**
 * How long before a deadline a call is sent, in milliseconds, so that it meets it: found out by trying, since
 * it depends on how busy the machine is.
 */
class Lead {
  ms = 20;

  /** Waits until a call that is sent now arrives within about 5 ms of the deadline. */
  async before({ expiresAt }: Held): Promise<void> {
    const from = expiresAt / 1_000 - this.ms - offset - Date.now();
    await sleep(Math.max(0, from + (Math.random() - 0.5) * 10));
  }

  arrived(when: 'early' | 'late'): void {
    this.ms += when === 'late' ? 5 : -5;
  }
}

test('at the deadline a renewal or a takeover wins, never both, and no renewed token expires', async () => {
  const person = new Agent(services[0].client(services[0].ownerToken));
  const token = await services[0].token('AGENT', 'agent', 'racer');
  const pairs = Array.from(
    { length: TASKS },
    (_, i) =>
      [
        new Agent(services[0].client(token, `a-${i}`)),
        new Agent(services[1].client(token, `b-${i}`)),
      ] as const,
  );
  const renewals = new Lead();
  const takeovers = new Lead();
  const extended: Held[] = [];
  let takenOver = 0;

  /** One task, held by one of two and wanted by the other, from deadline to deadline. */
  const contest = async (pair: readonly [Agent, Agent], i: number) => {
    const taskId = await person.createTask();
    // Spread out, or all the deadlines would be one.
    await sleep((i / TASKS) * TTL_MS);
    let [holder, challenger] = pair;
    let held = await holder.acquire(taskId, { ttlMs: TTL_MS });
    for (let round = 0; round < ROUNDS; round++) {
      const renewal = renewals
        .before(held)
        .then(() => holder.renew(held))
        .catch((error: unknown) => {
          expect(error).toBeInstanceOf(WriteRejected);
          expect(['LOCK_EXPIRED', 'STALE_LOCK']).toContain((error as WriteRejected).code);
          return undefined;
        });
      const takeover = takeovers.before(held).then(() => challenger.tryAcquire(taskId, { ttlMs: TTL_MS }));
      const [renewed, taken] = await Promise.all([renewal, takeover]);
      renewals.arrived(renewed ? 'early' : 'late');
      if (!renewed) takeovers.arrived(taken ? 'late' : 'early');
      expect(renewed && taken, 'a lease was renewed and taken over').toBeUndefined();
      if (renewed) {
        expect(renewed.fencingToken).toBe(held.fencingToken);
        expect(renewed.expiresAt).toBeGreaterThan(held.expiresAt);
        extended.push(renewed);
        held = renewed;
        continue;
      }
      if (taken) takenOver++;
      expect(taken?.fencingToken ?? held.fencingToken + 1n).toBe(held.fencingToken + 1n);
      held = taken ?? (await challenger.acquire(taskId, { ttlMs: TTL_MS }));
      [holder, challenger] = [challenger, holder];
    }
  };
  await Promise.all(pairs.map(contest));

  // Otherwise nothing was raced for.
  expect(extended.length).toBeGreaterThan(0);
  expect(takenOver).toBeGreaterThan(0);
  const sql = connect(services[0].databaseUrl, { max: 1 });
  const ends = await sql`SELECT id, ended_at FROM lease WHERE "end" = 4`;
  await sql.end();
  const endOf = new Map(ends.map(({ id, ended_at }) => [id as string, Number(ended_at)]));
  for (const { leaseId, expiresAt } of extended) {
    const end = endOf.get(leaseId);
    if (end !== undefined) expect(end).toBeGreaterThanOrEqual(Math.floor(expiresAt));
  }
  expect(await brokenRules(services[0].databaseUrl)).toEqual([]);
}, 900_000);
