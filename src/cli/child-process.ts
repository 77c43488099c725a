import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** How a child ended: its exit code, 128 + the signal's number when a signal ended it. */
type ExitStatus = number;

const KILL_AFTER_MS = 5_000;

/** A child process at the head of a process group of its own. */
export interface ProcessGroup {
  readonly child: ChildProcess;
  /** Settles when the child has ended; rejects when it could not be started. */
  readonly exited: Promise<ExitStatus>;
  /** Sends a signal to everybody in the group. False when nobody is left. */
  signal(signal: NodeJS.Signals): boolean;
  /** Ends everybody in the group: SIGTERM, and SIGKILL to who is left after 5 s. */
  terminate(): Promise<void>;
}

/** Starts `command`; the caller sees to its streams. */
export function startGroup(
  command: string,
  args: string[],
  env: NodeJS.ProcessEnv,
  stdio: StdioOptions,
): ProcessGroup {
  const child = spawn(command, args, { env, stdio, detached: true });
  const exited = new Promise<ExitStatus>((resolve, reject) => {
    child.once('error', (error) => reject(new Error(`can't start ${command}: ${error.message}`)));
    child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL']));
  });
  const signal = (name: NodeJS.Signals | 0) => {
    try {
      // The group outlives its head as long as anybody else is in it.
      return child.pid !== undefined && process.kill(-child.pid, name);
    } catch {
      return false;
    }
  };
  return {
    child,
    exited,
    signal,
    async terminate() {
      const giveUpAt = performance.now() + KILL_AFTER_MS;
      signal('SIGTERM');
      while (signal(0) && performance.now() < giveUpAt) await sleep(50);
      signal('SIGKILL');
    },
  };
}
