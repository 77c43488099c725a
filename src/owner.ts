import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makePersonToken } from './person-token.js';
import { createAuthenticate } from './rpc/authenticate.js';
import type { Store } from './store/store.js';
import { hasOwner } from './store/tokens.js';

/** Where the owner's token is kept for the local command line. */
const ownerTokenFile = (dataDir: string): string => join(dataDir, 'admin-token');

/**
 * Makes sure that somebody owns the server: on the first start an owner token is made and kept in the data
 * folder, readable by its owner alone.
 *
 * @param embedded whoever has the data folder of an embedded database has the database: a lost or stale token
 *   file is replaced. With a database elsewhere only the very first owner is made.
 * @returns the file, when it holds a token that works
 */
export async function ensureOwner(
  store: Store,
  dataDir: string,
  embedded: boolean,
): Promise<string | undefined> {
  const file = ownerTokenFile(dataDir);
  const kept = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (kept && (await createAuthenticate(store)(kept.trim()))) return file;
  if (!embedded && (await hasOwner(store))) return undefined;

  const secret = await makePersonToken(store, {
    principal: 'owner',
    role: 'admin',
    owner: true,
    lifetime: undefined,
  });
  await mkdir(dataDir, { recursive: true });
  // A new file: one that is there may be open to others, and would be for a moment with the new secret in it.
  await rm(file, { force: true });
  await writeFile(file, `${secret}\n`, { mode: 0o600, flag: 'wx' });
  return file;
}
