import { setTimeout as sleep } from 'node:timers/promises';
import { EventKind } from '@holdfast/proto/history';
import { expect, test } from 'vitest';
import { SECOND } from '../../src/domain/instant.js';
import { stopClock } from './clock.js';
import { startTestService } from './service.js';

test('a service of the tests serves its owner and the principals it made', async () => {
  const service = await startTestService({ settings: { enforcement: 'ENFORCE' } });
  const owner = service.client(service.ownerToken);
  expect(await owner.projects.whoAmI({})).toMatchObject({ principal: 'owner', owner: true });
  const agent = service.client(await service.token('AGENT', 'agent', 'Ada'), 'run-1');
  expect(agent.executionId).toBe('run-1');
  expect(await agent.projects.whoAmI({})).toMatchObject({ principal: 'ada', owner: false });
  expect((await owner.projects.getProject({})).project?.effectiveSettings?.enforcement).toBe(3);
  await service.stop();
  await service.stop();
});

test('the clock of a service stands still until it is moved, and without the feed nothing expires by itself', async () => {
  const service = await startTestService({ withFeed: false });
  const clock = await stopClock(service.databaseUrl);
  const owner = service.client(service.ownerToken, 'run');
  const { task } = await owner.tasks.createTask({ title: 'a task' });
  const taskId = task?.id ?? '';
  await owner.leases.acquireLease({ taskId, executionId: 'run', ttl: { seconds: 1n, nanos: 0 } });
  const before = await clock.now();
  await sleep(5);
  expect(await clock.now()).toBe(before);
  await clock.advance(SECOND);
  expect(await clock.now()).toBe(before + SECOND);

  const { events } = await owner.history.listHistory({ taskId, kinds: [EventKind.LEASE_EXPIRED] });
  expect(events).toEqual([]);
  expect((await owner.leases.listLeases({})).leases).toEqual([]);
  await clock.close();
});

/** The lease lives for a second; a test machine may stand still for longer. */
const SOON = { timeout: 10_000 };

test('with the feed, an expiry is recorded at its deadline', async () => {
  const service = await startTestService();
  const owner = service.client(service.ownerToken, 'run');
  const { task } = await owner.tasks.createTask({ title: 'a task' });
  const taskId = task?.id ?? '';
  await owner.leases.acquireLease({ taskId, executionId: 'run', ttl: { seconds: 1n, nanos: 0 } });
  await expect
    .poll(async () => {
      const { events } = await owner.history.listHistory({ taskId, kinds: [EventKind.LEASE_EXPIRED] });
      return events.length;
    }, SOON)
    .toBe(1);
});
