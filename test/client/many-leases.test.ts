import { getEventListeners } from 'node:events';
import { type HeldLease, withLease } from '@holdfast/client';
import pLimit from 'p-limit';
import { expect, it } from 'vitest';
import { startTestService } from '../support/service.js';

const LEASES = 1_000;
/** So many calls at once: it is the leases that shall be many, however slow the machine. */
const CALLS = 20;

/** What keeps this process alive, by kind. */
function resources(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** A lease that is held until it is let go. */
interface Held {
  readonly held: HeldLease;
  letGo(): Promise<void>;
}

it('a thousand leases at once leave no timer, no listener and no stream behind', async () => {
  const service = await startTestService({ settings: { enforcement: 'ENFORCE' } });
  const owner = service.client(service.ownerToken);
  const tasks = Array.from({ length: LEASES }, (_, n) => ({ externalKey: `t-${n}`, title: `Task ${n}` }));
  const { results } = await owner.tasks.importTasks({ tasks });
  const ada = service.client(await service.token('AGENT', 'agent', 'ada'), 'run-1');
  await ada.projects.whoAmI({});
  const hold = (taskId: string) =>
    new Promise<Held>((resolve, reject) => {
      let leave = () => {};
      const work = (held: HeldLease) =>
        new Promise<void>((left) => {
          leave = left;
          resolve({ held, letGo });
        });
      const over = withLease(ada, { taskId }, work, { ttlMs: 600_000 });
      const letGo = () => {
        leave();
        return over;
      };
      over.catch(reject);
    });
  const warnings: string[] = [];
  const warn = (warning: Error) => warnings.push(warning.message);
  process.on('warning', warn);
  const before = { resources: resources(), signals: process.listenerCount('SIGTERM') };

  const limit = pLimit(CALLS);
  const all = await Promise.all(results.map(({ taskId }) => limit(() => hold(taskId))));
  expect(all.filter(({ held }) => !held.signal.aborted)).toHaveLength(LEASES);
  expect(process.listenerCount('SIGTERM')).toBe(before.signals + 1);
  await Promise.all(
    all.map(({ held, letGo }) =>
      limit(async () => {
        await held.addNote('seen');
        await letGo();
      }),
    ),
  );

  expect((await owner.leases.listLeases({})).leases).toEqual([]);
  expect(all.flatMap(({ held }) => getEventListeners(held.signal, 'abort'))).toEqual([]);
  expect(process.listenerCount('SIGTERM')).toBe(before.signals);
  const after = resources();
  // Vitest and the server have timers of their own, but no thousand.
  expect(after.Timeout ?? 0).toBeLessThan((before.resources.Timeout ?? 0) + 50);
  expect(after.TCPSocketWrap ?? 0).toBeLessThanOrEqual(before.resources.TCPSocketWrap ?? 0);
  expect(warnings).toEqual([]);
  process.off('warning', warn);
}, 240_000);
