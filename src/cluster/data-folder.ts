import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ClusterError, explainOutput } from './cluster-error.js';
import type { Installation } from './installation.js';
import type { Layout } from './layout.js';
import { handOver } from './run-as.js';

const unfinished = 'postgres.unfinished-';

/** Whether there is data, after checking that this version of Postgres can read it. */
export function hasData(layout: Layout, installation: Installation): boolean {
  const versionFile = join(layout.pgdata, 'PG_VERSION');
  if (!existsSync(versionFile)) return false;
  const major = readFileSync(versionFile, 'utf8').trim();
  if (major !== String(installation.major)) {
    throw new ClusterError(
      `The data in ${layout.pgdata} was made by Postgres ${major}, but this is Postgres ${installation.version}. ` +
        `Use the version of Holdfast that made it, or dump it with a Postgres ${major} and load it into a new ` +
        'data folder, or run a Postgres of that version on it and set DATABASE_URL.',
    );
  }
  return true;
}

/** Makes new data. It gets its name only when it is complete, so that a crash on the way leaves none. */
export async function createData(layout: Layout, installation: Installation, sync: boolean): Promise<void> {
  await makeWay(layout);
  const folder = join(layout.dataDir, unfinished + randomUUID());
  await mkdir(folder, { mode: 0o700 });
  try {
    handOver(installation.way, folder);
    await initdb(layout, installation, folder, sync);
    await rename(folder, layout.pgdata);
    if (sync) await syncFolder(layout.dataDir);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Removes what earlier attempts left. */
async function makeWay(layout: Layout): Promise<void> {
  for (const name of await readdir(layout.dataDir)) {
    if (!name.startsWith(unfinished)) continue;
    // An initdb that outlived its starter may still write there: then the next one removes it.
    await rm(join(layout.dataDir, name), { recursive: true, force: true }).catch(() => {});
  }
  if (!existsSync(layout.pgdata)) return;
  await rmdir(layout.pgdata).catch(() => {
    throw new ClusterError(
      `${layout.pgdata} is there, but it is no Postgres data (PG_VERSION is missing). ` +
        'Move it away, or choose another data folder.',
    );
  });
}

async function initdb(
  layout: Layout,
  installation: Installation,
  folder: string,
  sync: boolean,
): Promise<void> {
  const { file, args, options } = installation.command('initdb', [
    `--pgdata=${folder}`,
    '--username=holdfast',
    '--encoding=UTF8',
    '--locale=C',
    // Who reaches the socket, in a folder of mode 0700, is the owner.
    '--auth-local=trust',
    '--auth-host=reject',
    '--no-instructions',
    ...(sync ? [] : ['--no-sync']),
  ]);
  const child = spawn(file, args, {
    ...options,
    cwd: layout.dataDir,
    env: installation.environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const collect = (chunk: string) => {
    output += chunk;
  };
  child.stdout.setEncoding('utf8').on('data', collect);
  child.stderr.setEncoding('utf8').on('data', collect);
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.once('error', reject).once('close', (...ending) => resolve(ending));
  });
  if (code === 0) return;
  const how = signal ? `was ended by ${signal}` : `failed (exit code ${code})`;
  throw explainOutput(`initdb ${how} while it made ${folder}`, output, layout.dataDir);
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
