import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openCluster } from '../../src/cluster/cluster.js';
import { identify } from '../../src/cluster/process-identity.js';
import { ask, newDataDir, pidFile, quick, serverPid, untilGone, usedDataDir } from './data-folders.js';
import { Opener } from './opener.js';

test('makes a data folder at the first start, and keeps what is in it', async () => {
  const dataDir = newDataDir();
  const first = await openCluster({ dataDir });
  expect(first.attached).toBe(false);
  expect(first.version).toMatch(/^\d+\.\d+/);
  expect(await ask(first.url, 'select current_user || current_database()')).toBe('holdfastholdfast');
  await ask(first.url, 'create table kept as select 42 as answer');
  await first.stop();
  expect(existsSync(pidFile(dataDir))).toBe(false);

  const second = await openCluster({ dataDir });
  expect(second.attached).toBe(false);
  expect(await ask(second.url, 'select answer from kept')).toBe(42);
  await second.stop();
});

test('is as durable as a server, and cannot be reached over the network', async () => {
  const cluster = await openCluster({ dataDir: await usedDataDir() });
  const settings = ['fsync', 'full_page_writes', 'synchronous_commit', 'listen_addresses', 'server_encoding'];
  const values = settings.map((name) => `current_setting('${name}')`).join(", ',', ");
  expect(await ask(cluster.url, `select concat(${values})`)).toBe('on,on,on,,UTF8');
  await cluster.stop();
});

test('a second process attaches, and the last one out stops Postgres', async () => {
  const dataDir = await usedDataDir();
  const first = await Opener.open({ dataDir, ...quick });
  const second = await Opener.open({ dataDir, ...quick });
  expect([first.attached, second.attached]).toEqual([false, true]);
  const server = serverPid(dataDir);

  await first.stop();
  expect(await ask(second.url, 'select 1')).toBe(1);
  expect(serverPid(dataDir)).toBe(server);

  await second.stop();
  expect(identify(server)).toBeUndefined();
});

test('opening twice in one process counts as two users, and stopping twice as one', async () => {
  const dataDir = await usedDataDir();
  const first = await openCluster({ dataDir, ...quick });
  const second = await openCluster({ dataDir, ...quick });
  expect(second.attached).toBe(true);
  await Promise.all([first.stop(), first.stop()]);
  expect(await ask(second.url, 'select 1')).toBe(1);
  await second.stop();
  await second.stop();
  expect(existsSync(pidFile(dataDir))).toBe(false);
});

test('of several that open an empty folder at once, one starts it and the others attach', async () => {
  const dataDir = newDataDir();
  const openers = await Promise.all([1, 2, 3].map(() => Opener.open({ dataDir, ...quick })));
  expect(openers.map(({ attached }) => attached).sort()).toEqual([false, true, true]);
  const server = serverPid(dataDir);
  await Promise.all(openers.map((opener) => opener.stop()));
  expect(identify(server)).toBeUndefined();
});

test("Ctrl-C in one user's terminal leaves Postgres to the others", async () => {
  const dataDir = await usedDataDir();
  const first = await Opener.open({ dataDir, ...quick });
  const second = await Opener.open({ dataDir, ...quick });
  const server = serverPid(dataDir);
  await first.interrupt();
  expect(await ask(second.url, 'select 1')).toBe(1);
  expect(serverPid(dataDir)).toBe(server);
  await second.stop();
});

test('stops although sessions are open', async () => {
  const dataDir = await usedDataDir();
  const cluster = await openCluster({ dataDir, ...quick });
  const server = serverPid(dataDir);
  const session = ask(cluster.url, 'select pg_sleep(60)').catch((error: { code: string }) => error.code);
  const sleeping = "select count(*)::int from pg_stat_activity where wait_event = 'PgSleep'";
  while ((await ask(cluster.url, sleeping)) !== 1);
  await cluster.stop();
  await untilGone(server);
  expect(await session).toMatch(/57P01|CONNECTION_CLOSED/);
});
