import { setTimeout as sleep } from 'node:timers/promises';
import type { Holdfast } from '@holdfast/client';
import type { Sql } from 'postgres';
import { expect, test } from 'vitest';
import { placeIn } from '../../src/rpc/resume-token.js';
import { brokenRules } from '../support/history-audit.js';
import { connect, createTestDatabase } from '../support/postgres.js';
import { newServerFolder, ServerProcess } from '../support/server-process.js';
import { Watching } from '../watch/watching.js';

const MS = process.env.HOLDFAST_TEST_LONG === '1' ? 60_000 : 6_000;
const WRITERS = 12;
const WATCHERS = 6;

const pause = (upTo: number) => sleep(Math.random() * upTo);

/** Writes through a server, with pauses. */
async function writeByCalls(client: () => Holdfast, over: () => boolean): Promise<void> {
  while (!over()) {
    try {
      const { task } = await client().tasks.createTask({ title: 'raced' });
      const taskId = task?.id ?? '';
      await client().leases.acquireLease({ taskId, executionId: 'run' });
      await pause(20);
      await client().tasks.completeTask({ taskId, executionId: 'run' });
    } catch {
      // The server was killed: what it had committed is in the history.
    }
    await pause(60);
  }
}

/** Writes in transactions that stay open while others commit, and some of which never do. */
async function writeSlowly(sql: Sql, over: () => boolean): Promise<void> {
  while (!over()) {
    const session = await sql.reserve();
    await session`BEGIN`;
    await session`
      INSERT INTO event (project, kind, at, payload)
      VALUES ('default', 26, holdfast_now(), '{"title": "slow", "changes": []}')`;
    await pause(400);
    await (Math.random() < 0.2 ? session`ROLLBACK` : session`COMMIT`);
    session.release();
    await pause(50);
  }
}

/** Watches now here, now there, for a while each time, always from where it was. */
async function watchAround(client: () => Holdfast, first: string, over: () => boolean) {
  const positions: number[] = [];
  let token = first;
  let streams = 0;
  const endings = new Set<string | undefined>();
  const lastOf = (watching: Watching) => watching.token || token;
  while (!over()) {
    const watching = new Watching(client(), { resumeAfter: token });
    streams++;
    await pause(300);
    await watching.stop();
    endings.add(watching.ending?.code);
    positions.push(...watching.positions);
    token = lastOf(watching);
  }
  return { positions, token, streams, endings };
}

test('every watcher is told the history as it is, though writers dawdle and servers die', async () => {
  const { url: databaseUrl } = await createTestDatabase();
  const dataDir = newServerFolder();
  const start = () => ServerProcess.start({ dataDir, databaseUrl });
  const servers = [await start(), await start()];
  const { ownerToken } = servers[0] as ServerProcess;
  const clients = servers.map((server) => server.client(ownerToken));
  const either = () => clients[Math.floor(Math.random() * clients.length)] as Holdfast;
  const sql = connect(databaseUrl, { max: WRITERS + 1 });
  const begun = await new Watching(either()).begun();
  await begun.stop();

  let over = false;
  const writing = Array.from({ length: WRITERS }, (_, i) =>
    i % 2 === 0 ? writeByCalls(either, () => over) : writeSlowly(sql, () => over),
  );
  let watched = false;
  const watching = Array.from({ length: WATCHERS }, () => watchAround(either, begun.token, () => watched));

  await sleep(MS / 2);
  await servers[1]?.end('SIGKILL');
  servers[1] = await start();
  clients[1] = servers[1].client(ownerToken);
  await sleep(MS / 2);
  over = true;
  await Promise.all(writing);
  watched = true;
  const watchers = await Promise.all(watching);

  const { events } = await either().history.listHistory({ order: 2, pageSize: 1 });
  const head = Number(events[0]?.position);
  for (const { positions, token, streams, endings } of watchers) {
    // It left, or its server was dead or dying.
    expect(['Canceled', 'Unavailable', 'Aborted']).toEqual(expect.arrayContaining([...endings]));
    const rest = new Watching(either(), { resumeAfter: token });
    await rest.until((some) => (some.positions.at(-1) ?? positions.at(-1)) === head);
    await rest.stop();
    const all = [...positions, ...rest.positions];
    const from = Number(placeIn(begun.token, 'default').position) + 1;
    expect(all).toEqual(Array.from({ length: head - from + 1 }, (_, i) => from + i));
    expect(all.length).toBeGreaterThan(100);
    expect(streams).toBeGreaterThan(10);
  }
  const counted = await sql`
    SELECT count(*)::int AS n FROM event WHERE project = 'default' AND position IS NOT NULL`;
  expect(counted[0]?.n).toBe(head);
  expect(await brokenRules(databaseUrl)).toEqual([]);
  await sql.end();
  for (const server of servers) await server.end('SIGTERM');
}, 180_000);
