import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Layout } from './layout.js';
import { socketPath } from './layout.js';
import { commandLine, identify, type ProcessIdentity } from './process-identity.js';

/** What a running Postgres tells about itself in its data folder. */
export interface Postmaster {
  readonly process: ProcessIdentity;
  /** The folder of its socket, which may be elsewhere than we would put it now. */
  readonly run: string;
  readonly status: 'starting' | 'stopping' | 'ready' | 'standby' | '';
}

/** The Postgres that runs on this data; undefined when none does, whatever a stale `postmaster.pid` says. */
export function findPostmaster(layout: Layout): Postmaster | undefined {
  const lines = readLines(layout);
  if (!lines) return undefined;
  const [pid = '', pgdata = '', , , run = '', , , status = ''] = lines;
  const process = identify(Number(pid));
  // After a crash the pid may be another program's, or even another Postgres's: the folder tells them apart.
  if (!process || !pgdata || !commandLine(process.pid).includes(`-D ${pgdata} `)) return undefined;
  return { process, run, status: status.trim() as Postmaster['status'] };
}

/**
 * Lets Postgres start after a crash. It takes a pid file for a live server's when any process has that pid now:
 * often so in containers, where pids are small, or where nobody reaps the dead one. The file is not deleted: it also
 * names the shared memory by which Postgres notices orphaned backends that still write. Only its pid is replaced, by
 * that of the parent of the Postgres to come: a parent is never taken for a rival.
 */
export function disownStalePid(layout: Layout): void {
  for (const suffix of ['', '.lock']) rmSync(socketPath(layout.run) + suffix, { force: true });
  const [pid, ...rest] = readLines(layout) ?? [];
  if (pid) writeFileSync(pidFile(layout), [process.pid, ...rest].join('\n'));
  // A power failure can leave the file empty, which Postgres refuses too.
  else if (pid === '') rmSync(pidFile(layout));
}

function readLines(layout: Layout): string[] | undefined {
  try {
    return readFileSync(pidFile(layout), 'utf8').split('\n');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function pidFile(layout: Layout): string {
  return join(layout.pgdata, 'postmaster.pid');
}
