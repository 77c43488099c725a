import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** One process, told apart from a later one that was given the same pid. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, in the operating system's own words; only good for comparing. */
  readonly started: string;
}

/** The process that has this pid now; undefined when there is none, or only an unreaped zombie. */
export function identify(pid: number): ProcessIdentity | undefined {
  const started = hasProc() ? startedByProc(pid) : startedByPs(pid);
  return started === undefined ? undefined : { pid, started };
}

/** This process. */
export function identifySelf(): ProcessIdentity {
  const self = identify(process.pid);
  if (!self) throw new Error('cannot read the start time of this process from /proc or ps');
  return self;
}

/** Whether exactly this process still runs. */
export function isAlive(process: ProcessIdentity): boolean {
  return identify(process.pid)?.started === process.started;
}

/** The command line of a process, its arguments joined by spaces; empty when there is no such process. */
export function commandLine(pid: number): string {
  try {
    if (hasProc()) return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return ps(pid, 'command=');
  } catch {
    return '';
  }
}

function hasProc(): boolean {
  return existsSync('/proc/self/stat');
}

function startedByProc(pid: number): string | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The command's name stands in parentheses and may hold spaces and parentheses itself: count from its end.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
  // Ticks since boot: the same pid and tick may come again after a restart, so the boot is named too.
  return `${bootId()}:${fields[19]}`;
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}

function startedByPs(pid: number): string | undefined {
  try {
    const [state, ...started] = ps(pid, 'state=,lstart=').split(/\s+/);
    return !state || state.startsWith('Z') ? undefined : started.join(' ');
  } catch {
    return undefined;
  }
}

function ps(pid: number, columns: string): string {
  return execFileSync('ps', ['-ww', '-o', columns, '-p', String(pid)], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
}
