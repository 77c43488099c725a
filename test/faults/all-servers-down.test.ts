import { EventKind, ReadyCause } from '@holdfast/proto/history';
import { TaskStatus } from '@holdfast/proto/task';
import { afterAll, expect, test } from 'vitest';
import { HOUR, MINUTE } from '../../src/domain/instant.js';
import { Agent } from '../support/agent.js';
import { type MovableClock, stopClock } from '../support/clock.js';
import { brokenRules } from '../support/history-audit.js';
import { startTestService } from '../support/service.js';
import { Watching } from '../watch/watching.js';

const LEASES = 40;

let clock: MovableClock | undefined;
afterAll(() => clock?.close());

test('leases whose deadline passes while every server is down expire, each once, when servers are back', async () => {
  const first = await startTestService();
  clock = await stopClock(first.databaseUrl);
  const secret = await first.token('AGENT', 'agent', 'ada');
  const agent = new Agent(first.client(secret, 'run-1'));
  const lapsing: string[] = [];
  for (let i = 0; i < LEASES; i++) {
    lapsing.push((await agent.acquire(await agent.createTask(`task ${i}`), { ttlMs: 60_000 })).taskId);
  }
  const lasting = await agent.acquire(await agent.createTask('lasting'), { ttlMs: 7_200_000 });
  const blocked = await agent.createTask('blocked');
  const child = await agent.createTask('what it waits for');
  const held = await agent.acquire(blocked, { ttlMs: 60_000 });
  await agent.holdfast.tasks.addDependency({
    taskId: blocked,
    blockedBy: child,
    executionId: 'run-1',
    proof: { leaseId: held.leaseId, fencingToken: held.fencingToken },
  });
  const watching = await new Watching(agent.holdfast).begun();
  expect(watching.leases).toHaveLength(LEASES + 2);
  await watching.stop();
  await first.stop();

  await clock.advance(HOUR);
  // Nobody asks for anything: the servers find them by themselves, both at once.
  const servers = await Promise.all([1, 2].map(() => startTestService({ databaseUrl: first.databaseUrl })));
  const [one, two] = servers.map((server) => server.client(server.ownerToken));
  if (!one || !two) throw new Error('two servers were started');
  const expired = async (from: typeof one) =>
    (await from.history.listHistory({ kinds: [EventKind.LEASE_EXPIRED], pageSize: 1000 })).events;
  await expect.poll(async () => (await expired(one)).length, { timeout: 15_000 }).toBe(LEASES + 1);

  // A watcher that resumes, at whatever server, is told each of them once.
  const resumed = new Watching(two, { resumeAfter: watching.token });
  const ofKind = (kind: string) => resumed.events.filter((event) => EventKind[event.kind] === kind);
  await resumed.until(() => ofKind('LEASE_EXPIRED').length >= LEASES + 1);
  const seen = ofKind('LEASE_EXPIRED').map(({ taskId }) => taskId);
  expect(seen.toSorted()).toEqual([...lapsing, blocked].toSorted());

  const events = await expired(two);
  expect(events.map(({ taskId }) => taskId).toSorted()).toEqual([...lapsing, blocked].toSorted());
  const { events: readied } = await two.history.listHistory({
    kinds: [EventKind.TASK_READY],
    pageSize: 1000,
  });
  const again = readied.filter(
    ({ payload }) => payload.case === 'taskReady' && payload.value.cause === ReadyCause.EXPIRED,
  );
  expect(again.map(({ taskId }) => taskId).toSorted()).toEqual(lapsing.toSorted());
  const { tasks: open } = await one.tasks.listTasks({ statuses: [TaskStatus.OPEN], pageSize: 1000 });
  expect(open).toHaveLength(LEASES + 2);
  const { leases } = await two.leases.listLeases({});
  expect(leases.map(({ taskId }) => taskId)).toEqual([lasting.taskId]);

  // The token outlives the outage: the next grant is a takeover, by whatever server.
  const rival = new Agent(servers[1]?.client(secret, 'run-2') ?? one);
  expect(await rival.acquire(lapsing[0] ?? '')).toMatchObject({ fencingToken: 2n });
  // And the one that was not due still ends at its own deadline.
  await clock.advance(HOUR + MINUTE);
  await expect.poll(async () => (await expired(one)).length, { timeout: 15_000 }).toBe(LEASES + 3);
  await resumed.until(() => ofKind('LEASE_EXPIRED').length >= LEASES + 3);
  expect(resumed.positions).toEqual(resumed.positions.map((_, i) => (resumed.positions[0] ?? 0) + i));
  await resumed.stop();
  expect(await brokenRules(first.databaseUrl)).toEqual([]);
});
