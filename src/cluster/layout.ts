import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ClusterError } from './cluster-error.js';

/** Where things are in a data folder. All paths are absolute and without symbolic links. */
export interface Layout {
  readonly dataDir: string;
  /** Postgres's own data. */
  readonly pgdata: string;
  /** The folder of the Unix socket. */
  readonly run: string;
  readonly log: string;
  readonly lock: string;
  /** One file for each live user. */
  readonly users: string;
}

/** Names the socket's file; nothing ever listens on a TCP port of this number. */
export const port = 5432;

/** The kernel takes 107 bytes on Linux and 103 on macOS for the path of a socket. */
const longestSocketPath = 100;

/** Makes the data folder if need be, readable by its owner only. */
export function openLayout(dataDir: string): Layout {
  const asked = resolve(dataDir);
  if (/\p{Cc}/u.test(asked)) {
    throw new ClusterError(`A data folder's path cannot hold control characters: ${JSON.stringify(asked)}`);
  }
  mkdirSync(asked, { recursive: true, mode: 0o700 });
  const real = realpathSync(asked);
  return {
    dataDir: real,
    pgdata: join(real, 'postgres'),
    run: runFolder(real),
    log: join(real, 'postgres.log'),
    lock: join(real, 'lock'),
    users: join(real, 'users'),
  };
}

/** The path of the socket that a server with this socket folder listens on. */
export function socketPath(run: string, number: number | string = port): string {
  return join(run, `.s.PGSQL.${number}`);
}

/** Makes a folder that only `owners` (user ids) may have made before. */
export function makePrivateFolder(folder: string, owners: number[]): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  // The temporary folder is everybody's: someone else may have been there first.
  if (!found.isDirectory() || !owners.includes(found.uid)) {
    throw new ClusterError(
      `${folder} belongs to someone else (user id ${found.uid}). Remove it, then try again.`,
    );
  }
  chmodSync(folder, 0o700);
}

function runFolder(dataDir: string): string {
  const inside = join(dataDir, 'run');
  const fits = Buffer.byteLength(socketPath(inside)) <= longestSocketPath;
  // Clients split lists of hosts at commas, and the loader lists of library folders at colons and semicolons.
  if (fits && !/[,:;]/.test(inside)) return inside;
  const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  return join(realpathSync(tmpdir()), `holdfast-${hash}`);
}
