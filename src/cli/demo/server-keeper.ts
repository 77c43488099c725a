/**
 * Keeps the demo's own server: a process beside the demo that starts it, and takes all of it away again when the demo
 * lets go of the channel between them, which it does however it ends. Its arguments are options of `holdfast serve`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { packageFile } from '../../package-file.js';
import type { Connection } from '../connection.js';

/** What the demo is told, once. */
export type KeeperReport = { connection: Connection } | { error: string };

const STOP_WITHIN_MS = 30_000;

const letGo = once(process, 'disconnect');
const folder = mkdtempSync(join(tmpdir(), 'holdfast-demo-'));

try {
  const server = startServer();
  const report = await server.announced.then(
    (connection): KeeperReport => ({ connection }),
    (error: Error): KeeperReport => ({ error: error.message }),
  );
  if (process.connected) process.send?.(report);
  await letGo;
  if (!(await stopped(server))) {
    // It could not stop its Postgres. Another one finds that, and stops it when it is stopped itself.
    await stopped(startServer());
  }
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

interface Server {
  readonly child: ChildProcess;
  readonly exited: Promise<unknown>;
  /** Settles when it listens, or has ended before it did. */
  readonly announced: Promise<Connection>;
}

function startServer(): Server {
  const main = packageFile('bin/holdfast.js');
  const child = spawn(process.execPath, [main, 'serve', '--json', ...process.argv.slice(2)], {
    // Not the demo's folder: a .env there is for another server.
    cwd: folder,
    env: {
      ...bareEnvironment(),
      HOLDFAST_DATA: folder,
      LOCK_ENFORCEMENT: 'enforce',
      HISTORY_RETENTION_DAYS: '1',
      LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  return { child, exited, announced: announcement(child, exited) };
}

/** Stops a server; true when it ended in good order, and so did its Postgres. */
async function stopped({ child, exited, announced }: Server): Promise<boolean> {
  // Before it listens, a server that is told to stop does not see to its Postgres.
  await announced.catch(() => {});
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGTERM');
    await Promise.race([exited, sleep(STOP_WITHIN_MS, undefined, { ref: false })]);
    child.kill('SIGKILL');
    await exited;
  }
  return child.exitCode === 0;
}

/** What of the environment the server needs; the rest may set up a server of the user's own. */
function bareEnvironment(): NodeJS.ProcessEnv {
  const kept = ['PATH', 'HOME', 'TMPDIR', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'HOLDFAST_ALLOWED_HOSTS'];
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => kept.includes(name)));
}

async function announcement({ stdout, stderr }: ChildProcess, exited: Promise<unknown>): Promise<Connection> {
  if (!stdout || !stderr) throw new Error("the demo's own server has no output");
  const complaint = text(stderr);
  const [line] = await Promise.race([
    once(createInterface({ input: stdout }), 'line') as Promise<[string]>,
    exited.then(() => [undefined] as const),
  ]);
  if (line === undefined) {
    throw new Error(`the demo's own server did not start:\n${lastLines(await complaint)}`);
  }
  const { url, tokenFile } = JSON.parse(line) as { url: string; tokenFile: string };
  return { url, token: readFileSync(tokenFile, 'utf8').trim() };
}

function lastLines(output: string): string {
  return output.trim().split('\n').slice(-10).join('\n') || '(it said nothing)';
}
