import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openCluster } from '../../src/cluster/cluster.js';
import { identify } from '../../src/cluster/process-identity.js';
import { ask, newDataDir, pidFile, quick, serverPid, untilGone, usedDataDir } from './data-folders.js';
import { Opener } from './opener.js';

test('never uses data that was only half made', async () => {
  const dataDir = newDataDir();
  const killed = new Opener({ dataDir, ...quick });
  await killed.saysProgress('Making a database');
  while (!halfMade(dataDir)) await new Promise(setImmediate);
  await killed.kill();
  expect(existsSync(join(dataDir, 'postgres'))).toBe(false);

  const cluster = await openCluster({ dataDir, ...quick });
  expect(cluster.attached).toBe(false);
  expect(await ask(cluster.url, 'select 1')).toBe(1);
  await cluster.stop();
});

test('attaches to the Postgres that a killed process left, and stops it in the end', async () => {
  const dataDir = await usedDataDir();
  const killed = await Opener.open({ dataDir, ...quick });
  await ask(killed.url, 'create or replace view kept as select 42 as answer');
  const server = serverPid(dataDir);
  await killed.kill();

  const cluster = await openCluster({ dataDir, ...quick });
  expect(cluster.attached).toBe(true);
  expect(serverPid(dataDir)).toBe(server);
  expect(await ask(cluster.url, 'select answer from kept')).toBe(42);
  await cluster.stop();
  expect(existsSync(pidFile(dataDir))).toBe(false);
});

test('recovers when both the process and Postgres were killed', async () => {
  const dataDir = await usedDataDir();
  await killAll(dataDir);
  const cluster = await openCluster({ dataDir, ...quick });
  expect(cluster.attached).toBe(false);
  expect(await ask(cluster.url, 'select answer from kept')).toBe(42);
  await cluster.stop();
});

test('waits for orphaned backends of a killed Postgres instead of writing beside them', async () => {
  const dataDir = await usedDataDir();
  const opener = await Opener.open({ dataDir, ...quick });
  // A busy backend does not notice that its postmaster is gone.
  const loop = "do $$ begin while clock_timestamp() < now() + interval '3 s' loop end loop; end $$";
  const busy = ask(opener.url, loop).catch(() => {});
  let backend: unknown;
  while (!backend) {
    backend = await ask(
      opener.url,
      "select pid from pg_stat_activity where query like 'do %' and state = 'active'",
    );
  }
  process.kill(serverPid(dataDir), 'SIGKILL');
  await opener.kill();

  const cluster = await openCluster({ dataDir, ...quick });
  expect(cluster.attached).toBe(false);
  expect(identify(Number(backend))).toBeUndefined();
  await busy;
  await cluster.stop();
});

test('starts although the pid of the killed Postgres is meanwhile that of another program', async () => {
  const dataDir = await usedDataDir();
  await killAll(dataDir);
  const [, ...rest] = readFileSync(pidFile(dataDir), 'utf8').split('\n');
  const bystander = spawn('sleep', ['60']);
  writeFileSync(pidFile(dataDir), [bystander.pid, ...rest].join('\n'));

  const cluster = await openCluster({ dataDir, ...quick });
  expect(cluster.attached).toBe(false);
  expect(await ask(cluster.url, 'select answer from kept')).toBe(42);
  await cluster.stop();
  expect(bystander.kill()).toBe(true);
});

test('starts although a power failure emptied the pid file', async () => {
  const dataDir = await usedDataDir();
  writeFileSync(pidFile(dataDir), '');
  const cluster = await openCluster({ dataDir, ...quick });
  expect(await ask(cluster.url, 'select 1')).toBe(1);
  await cluster.stop();
});

function halfMade(dataDir: string): boolean {
  const unfinished = readdirSync(dataDir).find((name) => name.startsWith('postgres.unfinished-'));
  return unfinished !== undefined && existsSync(join(dataDir, unfinished, 'PG_VERSION'));
}

/** Writes something, then kills the process that has opened the cluster, and Postgres. */
async function killAll(dataDir: string): Promise<void> {
  const opener = await Opener.open({ dataDir, ...quick });
  await ask(opener.url, 'create or replace view kept as select 42 as answer');
  const server = serverPid(dataDir);
  process.kill(server, 'SIGKILL');
  await opener.kill();
  await untilGone(server);
  expect(existsSync(pidFile(dataDir))).toBe(true);
}
