import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { embeddedBinaries } from '../../src/cluster/binaries.js';
import { openCluster } from '../../src/cluster/cluster.js';
import { ClusterError } from '../../src/cluster/cluster-error.js';
import { newDataDir, quick, usedDataDir } from './data-folders.js';

test('shows the last lines of the log when Postgres does not start', async () => {
  const dataDir = await usedDataDir();
  const opening = openCluster({ dataDir, settings: { shared_buffers: 'plenty' } });
  await expect(opening).rejects.toThrow(ClusterError);
  await expect(opening).rejects.toThrow(
    /did not start .*postgres\.log.*invalid value for parameter "shared_buffers"/s,
  );

  const cluster = await openCluster({ dataDir, ...quick });
  await cluster.stop();
});

test('tells which Postgres is needed for data of another major version', async () => {
  const dataDir = await usedDataDir();
  const versionFile = join(dataDir, 'postgres', 'PG_VERSION');
  const version = readFileSync(versionFile, 'utf8');
  writeFileSync(versionFile, '14\n');
  const opening = openCluster({ dataDir, ...quick });
  await expect(opening).rejects.toThrow(/was made by Postgres 14, but this is Postgres \d+\.\d+/);
  writeFileSync(versionFile, version);
});

test('leaves a folder alone that holds something else', async () => {
  const dataDir = newDataDir();
  const precious = join(dataDir, 'postgres', 'precious');
  mkdirSync(dirname(precious), { recursive: true });
  writeFileSync(precious, 'kept');
  await expect(openCluster({ dataDir, ...quick })).rejects.toThrow(/PG_VERSION is missing.*Move it away/);
  expect(readFileSync(precious, 'utf8')).toBe('kept');
});

test('says so when a file is in the way', async () => {
  const file = newDataDir();
  writeFileSync(file, '');
  for (const dataDir of [file, join(file, 'below')]) {
    await expect(openCluster({ dataDir })).rejects.toThrow(
      `${dataDir} cannot be a data folder: a file is in its way`,
    );
  }
});

test('keeps away from data that a Postgres it cannot see has open', async () => {
  const dataDir = await usedDataDir();
  mkdirSync(join(dataDir, 'run'), { recursive: true, mode: 0o700 });
  const elsewhere = createServer().listen(join(dataDir, 'run', '.s.PGSQL.5432'));
  await expect(openCluster({ dataDir, ...quick })).rejects.toThrow('perhaps in another container');
  elsewhere.close();
});

test('says that the programs do not run on this machine, and what to do', async () => {
  const dataDir = newDataDir();
  chmodSync(dirname(dataDir), 0o711);
  const broken = join(dirname(dataDir), 'broken');
  writeFileSync(broken, '#!/bin/sh\necho wrong kind of machine >&2\nexit 1\n');
  chmodSync(broken, 0o755);
  const opening = openCluster({ dataDir, binaries: { ...embeddedBinaries(), postgres: broken } });
  await expect(opening).rejects.toThrow(/does not run on this machine .*wrong kind of machine.*DATABASE_URL/);
});
