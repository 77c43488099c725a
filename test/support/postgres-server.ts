import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { embeddedBinaries, machineBinaries, type PostgresBinaries } from '../../src/cluster/binaries.js';
import { openCluster } from '../../src/cluster/cluster.js';

const oldestSupported = 15;

/** A Postgres server for one run of the tests. */
export interface TestServer {
  /** A database on it from which others can be made and dropped. */
  readonly url: string;
  /** Which server it is, for people. */
  readonly description: string;
  stop(): Promise<void>;
}

/**
 * The server of `TEST_DATABASE_URL`; else a private one, of this machine's binaries or of the embedded ones
 * (`HOLDFAST_TEST_POSTGRES` = `machine` or `embedded` decides). A private one does not sync to disk, unless
 * `HOLDFAST_TEST_FSYNC` is `on`.
 */
export async function startTestServer(): Promise<TestServer> {
  const url = process.env.TEST_DATABASE_URL;
  if (url) return { url, description: 'the server of TEST_DATABASE_URL', stop: async () => {} };

  const { binaries, origin } = chooseBinaries();
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-test-')));
  const reap = startReaper(folder);
  const unsafe = { fsync: 'off', full_page_writes: 'off' };
  try {
    const cluster = await openCluster({
      dataDir: folder,
      binaries,
      settings: { max_connections: '200', ...(process.env.HOLDFAST_TEST_FSYNC === 'on' ? {} : unsafe) },
    });
    return { url: cluster.url, description: `Postgres ${cluster.version} (${origin})`, stop: reap };
  } catch (error) {
    await reap();
    throw error;
  }
}

function chooseBinaries(): { binaries: PostgresBinaries; origin: string } {
  const wanted = process.env.HOLDFAST_TEST_POSTGRES;
  if (wanted && !['machine', 'embedded'].includes(wanted)) {
    throw new Error(`HOLDFAST_TEST_POSTGRES is "${wanted}": it must be "machine" or "embedded"`);
  }
  const machine = wanted === 'embedded' ? undefined : machineBinaries();
  if (machine && (wanted || majorVersion(machine) >= oldestSupported)) {
    return { binaries: machine, origin: `this machine's, ${machine.postgres}` };
  }
  if (wanted === 'machine')
    throw new Error('HOLDFAST_TEST_POSTGRES is "machine", but no Postgres was found here');
  return { binaries: embeddedBinaries(), origin: 'embedded' };
}

function majorVersion({ postgres }: PostgresBinaries): number {
  return Number(/\d+/.exec(execFileSync(postgres, ['--version'], { encoding: 'utf8' })));
}

/** Has a process of its own clean up, which also does so when this one is killed. */
function startReaper(folder: string): () => Promise<void> {
  const script = fileURLToPath(new URL('postgres-reaper.js', import.meta.url));
  const reaper = spawn(process.execPath, [script, folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  reaper.unref();
  return async () => {
    const ended = once(reaper, 'exit');
    reaper.stdin?.end();
    await ended;
  };
}
