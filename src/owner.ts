import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createAuthenticate, hashSecret } from './rpc/authenticate.js';
import { newId, newSecret } from './rpc/ids.js';
import type { Store } from './store/store.js';
import { createToken, hasOwner } from './store/tokens.js';

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

  const secret = newSecret();
  const made = await createToken(
    store,
    'default',
    {
      id: newId(),
      hash: hashSecret(secret),
      principal: 'owner',
      kind: 'PERSON',
      role: 'admin',
      owner: true,
      lifetime: undefined,
    },
    undefined,
  );
  if (made === 'OTHER_KIND') throw new Error('The principal "owner" of the project "default" is an agent.');
  await mkdir(dataDir, { recursive: true });
  // A new file: one that is there may be open to others, and would be for a moment with the new secret in it.
  await rm(file, { force: true });
  await writeFile(file, `${secret}\n`, { mode: 0o600, flag: 'wx' });
  return file;
}
