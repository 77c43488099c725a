import {
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach } from 'vitest';
import { openCluster } from '../../src/cluster/cluster.js';
import { commandLine, identify, isAlive } from '../../src/cluster/process-identity.js';
import { connect } from '../support/postgres.js';
import { killOpeners } from './opener.js';

/** Nothing here is about power failures: no waiting for the disk. */
export const quick = { settings: { fsync: 'off' } };

const folders: string[] = [];
/** One that the next test may use, since making one takes long: was used, is in order. */
let spare: string | undefined;

/** A new parent folder, and in it the path of a data folder that does not exist yet. */
export function newDataDir(name = 'data'): string {
  const dataDir = join(newParent(), name);
  folders.push(dataDir);
  return dataDir;
}

/** A data folder that was used and left in order. */
export async function usedDataDir(name?: string): Promise<string> {
  const dataDir = newDataDir(name);
  if (spare) {
    renameSync(spare, dataDir);
    rmdirSync(dirname(spare));
    spare = undefined;
  } else {
    await (await openCluster({ dataDir, ...quick })).stop();
  }
  return dataDir;
}

/** The pid that Postgres has written into its data folder. */
export function serverPid(dataDir: string): number {
  return Number(readFileSync(pidFile(dataDir), 'utf8').split('\n')[0]);
}

export function pidFile(dataDir: string): string {
  return join(dataDir, 'postgres', 'postmaster.pid');
}

/** Waits until a process is no more. */
export async function untilGone(pid: number): Promise<void> {
  const process = identify(pid);
  while (process && isAlive(process)) await sleep(5);
}

/** Runs one statement in a session of its own. */
export async function ask(url: string, statement: string): Promise<unknown> {
  const sql = connect(url, { max: 1 });
  try {
    const [row] = await sql.unsafe(statement).values();
    return row?.[0];
  } finally {
    await sql.end({ timeout: 1 });
  }
}

afterEach(async () => {
  await killOpeners();
  for (const dataDir of folders.splice(0)) {
    if (!spare && isInOrder(dataDir)) {
      spare = join(newParent(), 'data');
      renameSync(dataDir, spare);
    }
    await remove(dataDir);
  }
});

afterAll(async () => {
  if (spare) await remove(spare);
});

function newParent(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-test-')));
}

function isInOrder(dataDir: string): boolean {
  const owner = statSync(join(dataDir, 'postgres', 'PG_VERSION'), { throwIfNoEntry: false })?.uid;
  return owner === process.geteuid?.() && !existsSync(pidFile(dataDir));
}

async function remove(dataDir: string): Promise<void> {
  if (existsSync(pidFile(dataDir))) {
    const pid = serverPid(dataDir);
    if (commandLine(pid).includes(dataDir)) {
      process.kill(pid, 'SIGQUIT');
      await untilGone(pid);
    }
  }
  rmSync(dirname(dataDir), { recursive: true, force: true, maxRetries: 5 });
}
