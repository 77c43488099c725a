import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { identifySelf, isAlive, type ProcessIdentity } from './process-identity.js';

/**
 * Who uses the Postgres of a data folder: one file each, naming a process. Call under the start lock.
 * A process that died without signing off does not count, and its file is removed by the next who looks.
 */
export async function registerUser(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, randomUUID());
  await writeFile(file, JSON.stringify(identifySelf()), { mode: 0o600 });
  return file;
}

/** Signs one user off. */
export async function unregisterUser(file: string): Promise<void> {
  await rm(file, { force: true });
}

/** How many live users there are. */
export async function countUsers(folder: string): Promise<number> {
  const files = (await readdir(folder)).map((name) => join(folder, name));
  const alive = await Promise.all(files.map(async (file) => (await isLiveUser(file)) || discard(file)));
  return alive.filter(Boolean).length;
}

async function isLiveUser(file: string): Promise<boolean> {
  try {
    return isAlive(JSON.parse(await readFile(file, 'utf8')) as ProcessIdentity);
  } catch (error) {
    // Half written: it died while it signed on.
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

async function discard(file: string): Promise<false> {
  await rm(file, { force: true });
  return false;
}
