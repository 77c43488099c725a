import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, rm, stat, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** How long a code can be exchanged, in milliseconds. */
export const SIGN_IN_CODE_MS = 15 * 60_000;

const folderOf = (dataDir: string): string => join(dataDir, 'sign-in');

/** A code's file is named by its hash: the folder tells nobody a code, and looking one up takes equally long for all. */
const fileOf = (dataDir: string, code: string): string =>
  join(folderOf(dataDir), createHash('sha256').update(code).digest('hex'));

/**
 * Makes a code that can be exchanged for a token once, within {@link SIGN_IN_CODE_MS}, at any server that uses this
 * data folder: whoever can write there owns the server anyway.
 *
 * @returns 256 random bits, for a URL
 */
export async function makeSignInCode(dataDir: string): Promise<string> {
  await mkdir(folderOf(dataDir), { recursive: true, mode: 0o700 });
  await removeStale(dataDir);
  const code = randomBytes(32).toString('base64url');
  await writeFile(fileOf(dataDir, code), '', { mode: 0o600, flag: 'wx' });
  return code;
}

/**
 * Uses a code up.
 *
 * @returns whether it was there and still young enough; of several callers at once, in whatever process, one is told so
 */
export async function takeSignInCode(dataDir: string, code: string): Promise<boolean> {
  const file = fileOf(dataDir, code);
  try {
    const { mtimeMs } = await stat(file);
    // Removing is what decides: only one can. Not by `rm`, which takes a file that is gone for removed.
    await unlink(file);
    return Date.now() - mtimeMs < SIGN_IN_CODE_MS;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

async function removeStale(dataDir: string): Promise<void> {
  for (const name of await readdir(folderOf(dataDir))) {
    const file = join(folderOf(dataDir), name);
    const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
    if (Date.now() - mtimeMs >= SIGN_IN_CODE_MS) await rm(file, { force: true });
  }
}
