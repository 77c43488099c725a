import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { PostgresBinaries } from './binaries.js';
import { ClusterError } from './cluster-error.js';
import { type Command, commandAs, type RunAs } from './run-as.js';

/** Postgres's programs, ready to be run in one way. */
export interface Installation {
  readonly way: RunAs;
  /** The major version, such as 18. */
  readonly major: number;
  /** The version as Postgres names itself, such as `18.4`. */
  readonly version: string;
  readonly environment: NodeJS.ProcessEnv;
  command(program: 'postgres' | 'initdb', args: string[]): Command;
}

/**
 * Finds out whether the programs run in this way.
 *
 * @returns why not, when they don't.
 */
export function tryInstallation(binaries: PostgresBinaries, way: RunAs, run: string): Installation | string {
  const environment = cleanEnvironment(linkLibraries(binaries, run));
  const { file, args, options } = commandAs(way, binaries.postgres, ['--version']);
  const result = spawnSync(file, args, { ...options, cwd: '/', env: environment, encoding: 'utf8' });
  const version = /\(PostgreSQL\) ((\d+)\S*)/.exec(result.stdout ?? '');
  if (result.error || !version) return result.error?.message ?? (result.stderr.trim() || `${file} failed`);
  return {
    way,
    version: version[1] ?? '',
    major: Number(version[2]),
    environment,
    command: (program, more) => commandAs(way, binaries[program], more),
  };
}

/** The refusal to show when no way works. */
export function cannotRun(binaries: PostgresBinaries, reasons: string[]): ClusterError {
  return new ClusterError(
    `${binaries.postgres} does not run on this machine (${reasons.join('; ')}). ` +
      'Set DATABASE_URL to the address of a Postgres server (15 or newer) instead.',
  );
}

/**
 * A few variables only: those of the user's own Postgres work (PGDATA, PGPORT, …) and the locale would change what
 * the programs do, and secrets of ours are no business of theirs.
 */
function cleanEnvironment(libraries: string | undefined): NodeJS.ProcessEnv {
  const kept = ['PATH', 'HOME', 'TMPDIR', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH'];
  const environment: NodeJS.ProcessEnv = { LC_ALL: 'C', TZ: 'UTC' };
  for (const name of kept) if (process.env[name] !== undefined) environment[name] = process.env[name];
  if (libraries) {
    const name = process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH';
    environment[name] = [libraries, environment[name]].filter(Boolean).join(':');
  }
  return environment;
}

function linkLibraries(binaries: PostgresBinaries, run: string): string | undefined {
  if (!binaries.libraries?.size) return undefined;
  const folder = join(run, 'lib');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o755 });
  for (const [name, target] of binaries.libraries) symlinkSync(target, join(folder, name));
  return folder;
}
