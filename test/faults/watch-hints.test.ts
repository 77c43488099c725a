import { expect, test } from 'vitest';
import { connect, createTestDatabase } from '../support/postgres.js';
import { startTestService } from '../support/service.js';
import { Watching } from '../watch/watching.js';
import { startPostgresProxy } from './postgres-proxy.js';

/** So long that only hints can have told what comes sooner. */
const NEVER = 600_000;

async function watchedService(databaseUrl: string, pollMs: number) {
  const service = await startTestService({ databaseUrl, watch: { pollMs } });
  const client = service.client(service.ownerToken);
  const watching = await new Watching(client).begun();
  return {
    service,
    watching,
    /** Creates a task and answers after how many ms it was told. */
    async toldAfter(ms: number): Promise<number> {
      const { task } = await client.tasks.createTask({ title: 'told' });
      const began = performance.now();
      await watching.until(({ events }) => events.some(({ taskId }) => taskId === task?.id), ms);
      return performance.now() - began;
    },
  };
}

const rising = (positions: readonly number[]) => positions.map((_, i) => (positions[0] ?? 0) + i);

test('while the connection that listens is black-holed, the poll tells everything', async () => {
  const proxy = await startPostgresProxy((await createTestDatabase()).url);
  const { service, watching, toldAfter } = await watchedService(proxy.databaseUrl, 300);
  const { listeners } = proxy;
  expect(listeners).toBe(1);
  await toldAfter(5_000);
  proxy.silenceListeners();
  for (let i = 0; i < 4; i++) await toldAfter(4_000);
  expect(proxy.listeners).toBe(listeners);
  expect(watching.positions).toEqual(rising(watching.positions));
  await watching.stop();
  await service.stop();
});

test('a black-holed connection is noticed and replaced: what it missed is told, and hints come again', async () => {
  const proxy = await startPostgresProxy((await createTestDatabase()).url);
  const { service, watching, toldAfter } = await watchedService(proxy.databaseUrl, NEVER);
  await toldAfter(5_000);
  proxy.silenceListeners();
  await toldAfter(20_000);
  expect(proxy.listeners).toBe(2);
  await toldAfter(5_000);
  expect(watching.positions).toEqual(rising(watching.positions));
  await watching.stop();
  await service.stop();
}, 40_000);

test('when the listening backend is killed, again and again, nothing is lost and hints come again', async () => {
  const { url } = await createTestDatabase();
  const { service, watching, toldAfter } = await watchedService(url, NEVER);
  const sql = connect(url, { max: 1 });
  for (let i = 0; i < 4; i++) {
    const killed = await sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND query LIKE 'LISTEN%'`;
    expect(killed.length).toBe(1);
    await toldAfter(10_000);
    // Its successor listens to both channels before it can be the next.
    await expect
      .poll(
        async () =>
          (
            await sql`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%leases%'`
          ).length,
        { timeout: 10_000 },
      )
      .toBe(1);
    await toldAfter(5_000);
  }
  expect(watching.positions).toEqual(rising(watching.positions));
  await watching.stop();
  await sql.end();
  await service.stop();
}, 60_000);
