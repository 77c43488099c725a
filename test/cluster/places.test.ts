import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { packagedBinaries } from '../../src/cluster/binaries.js';
import { openCluster } from '../../src/cluster/cluster.js';
import { ask, newDataDir, quick, usedDataDir } from './data-folders.js';
import { Opener } from './opener.js';
import { copyPackage } from './package-copy.js';

const isRoot = process.geteuid?.() === 0;

test('makes data with a package whose install script did not run, in an empty folder with an odd name', async () => {
  const dataDir = newDataDir(`it's "odd": $x, & ü 100%`);
  mkdirSync(join(dataDir, 'postgres'), { recursive: true });
  const native = copyPackage(dirname(dataDir));
  const binaries = packagedBinaries(native);
  expect(binaries.libraries?.size ?? 0).toBeGreaterThan(0);
  const cluster = await openCluster({ dataDir, binaries, ...quick });
  expect(await ask(cluster.url, 'select 1')).toBe(1);
  await cluster.stop();
});

test.each([
  ['spaces, quotes and more', `it's "odd" $x & ü 100%`],
  ['characters that lists are split at', 'a,b:c;d'],
  ['a path too long for a socket', 'x'.repeat(120)],
])('works in a folder with %s', async (_, name) => {
  const dataDir = await usedDataDir(name);
  const cluster = await openCluster({ dataDir, ...quick });
  expect(await ask(cluster.url, 'select 1')).toBe(1);
  const run = decodeURIComponent(new URL(cluster.url).hostname);
  expect([dataDir, tmpdir()]).toContain(dirname(run));
  expect(statSync(run).mode & 0o777).toBe(0o700);
  await cluster.stop();
  expect(existsSync(run)).toBe(false);
});

test('a folder opened through a symbolic link is the same folder', async () => {
  const dataDir = await usedDataDir();
  const link = join(dirname(dataDir), 'link');
  symlinkSync(dataDir, link);
  const first = await openCluster({ dataDir, ...quick });
  const second = await openCluster({ dataDir: link, ...quick });
  expect(second.attached).toBe(true);
  await first.stop();
  await second.stop();
});

test('a socket folder in the temporary folder is not taken from somebody else', async () => {
  if (!isRoot) return;
  const dataDir = await usedDataDir('x'.repeat(120));
  const cluster = await openCluster({ dataDir, ...quick });
  const run = decodeURIComponent(new URL(cluster.url).hostname);
  await cluster.stop();
  symlinkSync(dirname(dataDir), run);
  await expect(openCluster({ dataDir, ...quick })).rejects.toThrow(`${run} belongs to someone else`);
  rmSync(run);
});

test("the user's own Postgres variables and locale do not disturb", async () => {
  const dataDir = await usedDataDir();
  const environment = {
    PGHOST: '/nowhere',
    PGPORT: '1',
    PGDATA: '/nowhere',
    PGUSER: 'x',
    PGDATABASE: 'x',
    TZ: 'x',
  };
  const more = {
    PGSSLMODE: 'require',
    PGSSL: 'require',
    PGTARGETSESSIONATTRS: 'standby',
    LC_ALL: 'xx',
    LANG: 'xx',
  };
  const opener = await Opener.open({ dataDir, ...quick }, { ...environment, ...more });
  expect(await ask(opener.url, "select current_setting('TimeZone')")).toBe('UTC');
  await opener.stop();
});

test.skipIf(!hasPsql())("a cluster's URL is one that psql takes", async () => {
  const cluster = await openCluster({ dataDir: await usedDataDir(`it's "odd" & 100% ü`), ...quick });
  const answer = execFileSync('psql', ['-XAtc', 'select current_database()', cluster.url], {
    encoding: 'utf8',
  });
  expect(answer.trim()).toBe('holdfast');
  await cluster.stop();
});

function hasPsql(): boolean {
  try {
    execFileSync('psql', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
