import { LeaseState } from '@holdfast/proto/guard';
import { RefusalReason } from '@holdfast/proto/lease';
import { TaskStatus } from '@holdfast/proto/task';
import type { Sql } from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Agent } from '../support/agent.js';
import { brokenRules } from '../support/history-audit.js';
import { connect } from '../support/postgres.js';
import { holdRow, untilClock, untilWaiting } from '../support/row-lock.js';
import { startTestService, type TestService } from '../support/service.js';

let service: TestService;
let sql: Sql;
let person: Agent;
let agent: Agent;
let other: Agent;

beforeAll(async () => {
  service = await startTestService({ settings: { enforcement: 'ENFORCE' } });
  sql = connect(service.databaseUrl, { max: 4 });
  person = new Agent(service.client(service.ownerToken));
  agent = new Agent(service.client(await service.token('AGENT', 'agent', 'ada'), 'run'));
  other = new Agent(service.client(await service.token('AGENT', 'agent', 'bob'), 'run'));
});

afterAll(() => sql.end({ timeout: 1 }));

const refusal = (call: Promise<unknown>) =>
  call.then(
    () => 'done',
    (error: { code?: unknown }) => error.code,
  );

test('what waits for a row past the deadline of its lease is refused as expired', async () => {
  const [taskId, elsewhere] = await Promise.all([person.createTask(), person.createTask()]);
  const held = await agent.acquire(taskId, { ttlMs: 1_000 });
  const row = await holdRow(sql, 'task_state', 'task_id', taskId);
  const waiting = {
    renewal: refusal(agent.renew(held)),
    heartbeat: agent.ask(taskId, { ttlMs: 1_000 }),
    completion: refusal(agent.complete(held, { result: 'late' })),
    note: refusal(agent.note(held, 'late')),
    release: agent.release(held),
  };
  await untilWaiting(sql, 5);
  // While the row is held: an expiry elsewhere is recorded all the same.
  const bystander = await other.acquire(elsewhere, { ttlMs: 1_000 });
  await untilClock(sql, held.expiresAt);
  const takeover = other.ask(taskId);
  await untilWaiting(sql, 6);
  await untilClock(sql, bystander.expiresAt);
  const expiry = () => sql`SELECT 1 FROM event WHERE task_id = ${elsewhere} AND kind = 18`;
  await expect.poll(expiry, { timeout: 10_000 }).toHaveLength(1);
  expect(await sql`SELECT 1 FROM event WHERE task_id = ${taskId} AND kind = 18`).toHaveLength(0);
  await row.release();

  // Which of the two codes depends on who of the others came first.
  expect(await waiting.renewal).toMatch(/LOCK_EXPIRED|STALE_LOCK/);
  expect(await waiting.completion).toMatch(/LOCK_EXPIRED|STALE_LOCK/);
  expect(await waiting.note).toMatch(/LOCK_EXPIRED|STALE_LOCK/);
  const released = await waiting.release;
  expect(released.alreadyEnded).toBe(true);
  expect(released.lease?.state).toBe(LeaseState.EXPIRED);
  // Each of these is a new grant, or comes after the other's.
  const outcomes = await Promise.all([waiting.heartbeat, takeover]);
  const grants = outcomes.flatMap(({ case: kind, value }) => (kind === 'grant' ? [value] : []));
  expect(grants).toHaveLength(1);
  expect(grants[0]).toMatchObject({ renewed: false, lease: { fencingToken: held.fencingToken + 1n } });
  const { task } = await person.holdfast.tasks.getTask({ taskId });
  expect(task?.status).toBe(TaskStatus.IN_PROGRESS);
  expect(await brokenRules(service.databaseUrl)).toEqual([]);
});

test.each([
  ['task', 3_000],
  ['execution', 1_500],
] as const)('a grant that waited for the row of its %s has its whole TTL', async (what, waitMs) => {
  const taskId = await person.createTask();
  // An execution is known from its first grant on.
  await agent.release(await agent.acquire(taskId));
  const row =
    what === 'task'
      ? await holdRow(sql, 'task_state', 'task_id', taskId)
      : await holdRow(sql, 'execution', 'id', agent.executionId);
  const [before] = await sql`SELECT holdfast_now() AS t`;
  const asked = agent.ask(taskId, { ttlMs: 2_000 });
  await untilWaiting(sql, 1);
  await untilClock(sql, Number(before?.t) + waitMs * 1_000);
  const [freed] = await sql`SELECT holdfast_now() AS t`;
  await row.release();
  const outcome = await asked;
  if (outcome.case !== 'grant') throw new Error('refused');
  expect(outcome.value.lease?.remaining).toMatchObject({ seconds: 2n, nanos: 0 });
  const [lease] = await sql`
    SELECT l.granted_at, s.expires_at - l.granted_at AS lives, (e.payload->>'expiresAt')::bigint - e.at AS told
    FROM lease l JOIN task_state s ON s.lease_id = l.id
    JOIN event e ON e.task_id = l.task_id AND e.fencing_token = l.fencing_token AND e.kind IN (15, 16)
    WHERE l.id = ${outcome.value.lease?.id ?? ''}`;
  expect(Number(lease?.granted_at)).toBeGreaterThanOrEqual(Number(freed?.t));
  expect(lease).toMatchObject({ lives: '2000000', told: '2000000' });
  await untilClock(sql, Number(lease?.granted_at) + 1_900_000);
  const checked = await agent.holdfast.leases.checkLease({
    taskId,
    executionId: agent.executionId,
    proof: {
      leaseId: outcome.value.lease?.id ?? '',
      fencingToken: outcome.value.lease?.fencingToken ?? 0n,
    },
  });
  expect(checked.live).toBe(true);
});

test('a renewal that came in time holds, though it is committed after the old deadline', async () => {
  const taskId = await person.createTask();
  // Renewals dawdle between reading the clock and their commit, as on a slow disk.
  await sql.unsafe(`
    CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.8); RETURN NEW; END $$;
    CREATE TRIGGER dawdle BEFORE UPDATE ON task_state FOR EACH ROW
      WHEN (NEW.lease_id = OLD.lease_id AND NEW.expires_at > OLD.expires_at) EXECUTE FUNCTION dawdle()`);
  const held = await agent.acquire(taskId, { ttlMs: 1_000 });
  await untilClock(sql, held.expiresAt - 400_000);
  const renewal = agent.renew(held, 5_000);
  await untilClock(sql, held.expiresAt);
  // To all who ask now the old deadline has passed, and the new one is not to be seen yet.
  const [takeover, renewed] = await Promise.all([other.ask(taskId), renewal]);
  await sql`DROP TRIGGER dawdle ON task_state`;
  expect(renewed.fencingToken).toBe(held.fencingToken);
  expect(takeover).toMatchObject({ case: 'refusal', value: { reason: RefusalReason.HELD } });
  expect(await sql`SELECT 1 FROM event WHERE task_id = ${taskId} AND kind = 18`).toHaveLength(0);
  expect(await refusal(agent.note(held, 'still mine'))).toBe('done');
  expect(await brokenRules(service.databaseUrl)).toEqual([]);
});
