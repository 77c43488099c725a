import { Code, ConnectError } from '@connectrpc/connect';
import { InvalidRequest, WriteRejected } from '@holdfast/client';
import { LeaseState } from '@holdfast/proto/guard';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { HOUR, SECOND } from '../../src/domain/instant.js';
import { Agent } from '../support/agent.js';
import { type MovableClock, stopClock } from '../support/clock.js';
import { brokenRules } from '../support/history-audit.js';
import { startTestService, type TestService } from '../support/service.js';

let service: TestService;
let clock: MovableClock;
let taskId: string;
let agent: Agent;
/** Another thread of the same execution. */
let thread: Agent;
let other: Agent;

beforeAll(async () => {
  service = await startTestService({ settings: { enforcement: 'ENFORCE', maxAge: 10 * SECOND } });
  clock = await stopClock(service.databaseUrl);
  const token = await service.token('AGENT', 'agent', 'ada');
  agent = new Agent(service.client(token, 'run'));
  thread = new Agent(service.client(token, 'run'));
  other = new Agent(service.client(await service.token('AGENT', 'agent', 'bob'), 'run'));
});

beforeEach(async () => {
  taskId = await other.createTask();
});

afterAll(() => clock.close());

const rejection = (call: Promise<unknown>) =>
  call.then(
    () => 'done',
    (error: unknown) => (error instanceof WriteRejected ? error.code : error),
  );

test('an old thread of an agent that acquired again is refused as stale', async () => {
  const old = await thread.acquire(taskId, { ttlMs: 2_000 });
  await clock.advance(2 * SECOND);
  const held = await agent.acquire(taskId, { ttlMs: 2_000 });
  expect(held.fencingToken).toBe(old.fencingToken + 1n);
  expect(await rejection(thread.note(old, 'still here'))).toBe('STALE_LOCK');
  expect(await rejection(thread.renew(old))).toBe('STALE_LOCK');
  expect(await rejection(thread.complete(old))).toBe('STALE_LOCK');
  expect(await thread.release(old)).toMatchObject({
    alreadyEnded: true,
    lease: { state: LeaseState.EXPIRED },
  });
  expect(await rejection(agent.complete(held))).toBe('done');
  expect(await brokenRules(service.databaseUrl)).toEqual([]);
});

test('a task that was idle for hours owes its new holder nothing: the old heartbeat is not waited for', async () => {
  const old = await other.acquire(taskId, { ttlMs: 2_000 });
  await other.renew(old, 3_000);
  await clock.advance(5 * HOUR);
  const held = await agent.acquire(taskId, { ttlMs: 8_000 });
  // Past where the old lease, counted from the new grant, would be late.
  await clock.advance(6 * SECOND);
  const renewed = await agent.renew(held);
  expect(renewed.expiresAt).toBeGreaterThan(held.expiresAt);
  // The age that the lease may reach counts from this holder's grant, too.
  expect(renewed.expiresAt - held.expiresAt).toBe(2 * SECOND);
  expect(await rejection(agent.note(held, 'at work'))).toBe('done');
  const { lease } = await agent.holdfast.leases.getLease({ leaseId: held.leaseId });
  expect(lease?.state).toBe(LeaseState.ACTIVE);
  await agent.release(held);
  expect(await brokenRules(service.databaseUrl)).toEqual([]);
});

test('releasing what one does not hold is told, never a silent success', async () => {
  const held = await agent.acquire(taskId, { ttlMs: 2_000 });
  const unknown = { ...held, leaseId: 'no-such-lease' };
  for (const call of [agent.release(unknown), other.release(held)]) {
    const error = await call.catch((e: unknown) => e);
    expect(ConnectError.from(error).code).toBe(Code.NotFound);
  }
  const wrong = await agent.release({ ...held, fencingToken: 7n }).catch((e: unknown) => e);
  expect(wrong).toBeInstanceOf(InvalidRequest);
  expect(await rejection(agent.renew(held))).toBe('done');

  expect(await agent.release(held)).toMatchObject({
    alreadyEnded: false,
    lease: { state: LeaseState.RELEASED },
  });
  expect(await agent.release(held)).toMatchObject({
    alreadyEnded: true,
    lease: { state: LeaseState.RELEASED },
  });
  const next = await other.acquire(taskId, { ttlMs: 2_000 });
  expect(await agent.release(held)).toMatchObject({
    alreadyEnded: true,
    lease: { state: LeaseState.RELEASED },
  });
  await clock.advance(3 * SECOND);
  expect(await other.release(next)).toMatchObject({
    alreadyEnded: true,
    lease: { state: LeaseState.EXPIRED },
  });
  expect(await brokenRules(service.databaseUrl)).toEqual([]);
});
