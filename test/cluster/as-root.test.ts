import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type PostgresBinaries, packagedBinaries } from '../../src/cluster/binaries.js';
import { openCluster } from '../../src/cluster/cluster.js';
import { ask, newDataDir, quick, serverPid, usedDataDir } from './data-folders.js';
import { copyPackage } from './package-copy.js';

describe.skipIf(process.geteuid?.() !== 0)('as root', () => {
  let programs: string;
  let binaries: PostgresBinaries;

  beforeAll(() => {
    // Where every user gets to them, wherever this project is.
    programs = mkdtempSync(join(tmpdir(), 'holdfast-test-'));
    chmodSync(programs, 0o755);
    binaries = packagedBinaries(copyPackage(programs));
  });

  afterAll(() => rmSync(programs, { recursive: true, force: true }));

  test('runs below a folder that only root may enter, and leaves all files to root', async () => {
    const dataDir = await usedDataDir();
    expect(statSync(dirname(dataDir)).mode & 0o777).toBe(0o700);
    const cluster = await openCluster({ dataDir, asRoot: 'namespace', ...quick });
    await ask(cluster.url, 'create table t as select 1');
    expect(statSync(`${dataDir}/postgres/postmaster.pid`).uid).toBe(0);
    await cluster.stop();
  });

  test('else runs as another user, to whom it gives the data; from then on always', async () => {
    const dataDir = await usedDataDir();
    chmodSync(dirname(dataDir), 0o711);
    for (const choice of [{ asRoot: 'user' }, {}] as const) {
      const cluster = await openCluster({ dataDir, binaries, ...choice, ...quick });
      expect(await ask(cluster.url, 'select 1')).toBe(1);
      expect(statSync(`/proc/${serverPid(dataDir)}`).uid).not.toBe(0);
      expect(statSync(`${dataDir}/postgres`).uid).toBe(statSync(`/proc/${serverPid(dataDir)}`).uid);
      expect(statSync(dataDir).mode & 0o777).toBe(0o711);
      await cluster.stop();
    }
  });

  test('makes new data as that user too', async () => {
    const dataDir = newDataDir();
    chmodSync(dirname(dataDir), 0o711);
    const cluster = await openCluster({ dataDir, binaries, asRoot: 'user', ...quick });
    const second = await openCluster({ dataDir, binaries, asRoot: 'user', ...quick });
    expect(second.attached).toBe(true);
    expect(await ask(cluster.url, 'select 1')).toBe(1);
    await cluster.stop();
    await second.stop();
  });

  test('names the folder that shuts that user out', async () => {
    const dataDir = newDataDir();
    const opening = openCluster({ dataDir, asRoot: 'user', ...quick });
    await expect(opening).rejects.toThrow(`may not enter ${dirname(dataDir)}. Run as a normal user`);
  });
});

describe.skipIf(process.geteuid?.() === 0)('as a normal user', () => {
  test('says whose folder it is not allowed to use', async () => {
    const dataDir = newDataDir();
    chmodSync(dirname(dataDir), 0o500);
    await expect(openCluster({ dataDir })).rejects.toThrow(
      /No permission to use .*Run as the user who owns it/,
    );
    chmodSync(dirname(dataDir), 0o700);
  });
});
