import { randomUUID } from 'node:crypto';
import { link, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ClusterError } from './cluster-error.js';
import { identifySelf, isAlive, type ProcessIdentity } from './process-identity.js';

interface Owner extends ProcessIdentity {
  /** Never used twice, so that a name made of it can be won only once. */
  readonly id: string;
}

/** Stands for the owner of a lock file that a power failure emptied. Whoever that was, it is gone. */
const unreadable: Owner = { id: 'unreadable', pid: 0, started: '' };

export interface LockOptions {
  /** How long to wait for a live owner, in milliseconds. */
  readonly patience: number;
  /** Told once, when the lock turns out to be held. */
  onWait?(pid: number): void;
}

/**
 * Runs `work` while no other process (or other call in this one) does so with the same folder.
 *
 * The lock belongs to a living process: one that died is succeeded at once, without a timeout. Deleting a dead
 * owner's lock would be a race (two may find it dead, and the slower one deletes the quicker one's new lock), so
 * the right to succeed owner X is won by creating the file `after-X`, which can happen only once. A winner that
 * dies before it took over is succeeded in the same way.
 *
 * @throws ClusterError when a live owner keeps the lock for longer than `patience`.
 */
export async function withLock<T>(folder: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  const me: Owner = { ...identifySelf(), id: randomUUID() };
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await take(folder, me, options);
  try {
    return await work();
  } finally {
    await rm(holderFile(folder), { force: true });
  }
}

async function take(folder: string, me: Owner, options: LockOptions): Promise<void> {
  const deadline = performance.now() + options.patience;
  const draft = join(folder, `draft-${me.id}`);
  let told = false;
  await writeFile(draft, JSON.stringify(me), { mode: 0o600 });
  try {
    for (;;) {
      const outcome = await attempt(folder, draft);
      if (outcome === 'taken') return await sweep(folder);
      if (outcome === 'changed') continue;
      if (!told) options.onWait?.(outcome.pid);
      told = true;
      if (performance.now() > deadline) {
        throw new ClusterError(
          `Process ${outcome.pid} has been starting or stopping Postgres for too long (lock: ${folder}). ` +
            'Look at what it does, end it if it hangs, then try again.',
        );
      }
      await sleep(25);
    }
  } finally {
    await rm(draft, { force: true });
  }
}

async function attempt(folder: string, draft: string): Promise<'taken' | 'changed' | Owner> {
  // Linked, not written in place: whoever sees a lock file sees all of it.
  if (await linked(draft, holderFile(folder))) return 'taken';
  const holder = await readOwner(holderFile(folder));
  if (!holder) return 'changed';
  if (isAlive(holder)) return holder;

  let predecessor = holder;
  while (!(await linked(draft, successorFile(folder, predecessor)))) {
    const rival = await readOwner(successorFile(folder, predecessor));
    if (!rival) return 'changed';
    if (isAlive(rival)) return rival;
    predecessor = rival;
  }
  const mine = successorFile(folder, predecessor);
  // An earlier successor may have finished, and cleaned up, since the holder was read.
  const unchanged = (await readOwner(holderFile(folder)))?.id === holder.id;
  if (unchanged) await rename(draft, holderFile(folder));
  await rm(mine, { force: true });
  return unchanged ? 'taken' : 'changed';
}

/** Removes what processes left that died while they waited. */
async function sweep(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (path === holderFile(folder)) continue;
    const owner = await readOwner(path);
    // An unreadable draft is one that is just being written.
    if (owner && owner !== unreadable && !isAlive(owner)) await rm(path, { force: true });
  }
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function readOwner(path: string): Promise<Owner | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Owner;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    if (error instanceof SyntaxError) return unreadable;
    throw error;
  }
}

function holderFile(folder: string): string {
  return join(folder, 'holder');
}

function successorFile(folder: string, predecessor: Owner): string {
  return join(folder, `after-${predecessor.id}`);
}
