import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fstatSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ClusterError, explainOutput } from './cluster-error.js';
import type { Installation } from './installation.js';
import { type Layout, port, socketPath } from './layout.js';
import { disownStalePid, findPostmaster, type Postmaster } from './postmaster-file.js';
import { isAlive } from './process-identity.js';

/** How long Postgres may take to replay its log after a crash, in milliseconds. */
export const startPatience = 300_000;

/** How long Postgres may take to write everything down and end, in milliseconds. */
export const stopPatience = 60_000;

const largestLog = 10 * 1024 * 1024;

/**
 * Starts Postgres and waits until it takes connections. It is detached: it must not get the terminal's Ctrl-C,
 * since others may use it too, and it outlives a crash of ours.
 *
 * @throws ClusterError with the last lines of the log.
 */
export async function startPostmaster(
  layout: Layout,
  installation: Installation,
  settings: Record<string, string>,
): Promise<Postmaster> {
  await requireSilence(layout);
  const giveUp = performance.now() + 10_000;
  for (;;) {
    const outcome = await launch(layout, installation, settings);
    if (!('output' in outcome)) return outcome;
    // Backends that outlived a killed postmaster end by themselves when they notice: soon, but not at once.
    const orphans = /pre-existing shared memory block/.test(outcome.output);
    if (!orphans || performance.now() > giveUp) {
      throw explainOutput(`Postgres did not start (log: ${layout.log})`, outcome.output, layout.dataDir);
    }
    await sleep(100);
  }
}

/** Waits until a Postgres that runs already takes connections; undefined when it ends instead. */
export async function awaitReady(layout: Layout): Promise<Postmaster | undefined> {
  const deadline = performance.now() + startPatience;
  for (;;) {
    const postmaster = findPostmaster(layout);
    if (!postmaster || postmaster.status === 'ready') return postmaster;
    if (performance.now() > deadline) {
      throw new ClusterError(
        `Postgres (process ${postmaster.process.pid}) has been ${postmaster.status || 'starting'} for too long. ` +
          `Its log: ${layout.log}`,
      );
    }
    await sleep(20);
  }
}

/** Ends Postgres; sessions that are still open are ended first. */
export async function stopPostmaster({ process: server }: Postmaster): Promise<void> {
  // SIGINT is Postgres's "fast" shutdown, SIGQUIT the "immediate" one, after which it recovers from its log.
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    if (!isAlive(server)) return;
    process.kill(server.pid, signal);
    const deadline = performance.now() + stopPatience;
    while (performance.now() < deadline) {
      if (!isAlive(server)) return;
      await sleep(10);
    }
  }
  throw new ClusterError(
    `Postgres (process ${server.pid}) does not stop. Look at what it waits for, then end it.`,
  );
}

/** A server that answers is alive, even when its process cannot be seen: then it runs in another container. */
async function requireSilence(layout: Layout): Promise<void> {
  const socket = connect(socketPath(layout.run));
  const answered = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  if (!answered) return;
  throw new ClusterError(
    `A Postgres that this process cannot see, perhaps in another container, uses ${layout.dataDir}. ` +
      'Stop it first, or choose another data folder; to share one, run a Postgres server and set DATABASE_URL.',
  );
}

async function launch(
  layout: Layout,
  installation: Installation,
  settings: Record<string, string>,
): Promise<Postmaster | { output: string }> {
  disownStalePid(layout);
  const { file, args, options } = installation.command('postgres', serverArguments(layout, settings));
  const log = openLog(layout.log);
  const logStart = fstatSync(log).size;
  const child = spawn(file, args, {
    ...options,
    cwd: layout.dataDir,
    env: installation.environment,
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const ended = new AbortController();
  child.once('exit', () => ended.abort());
  await once(child, 'spawn');
  child.unref();

  const deadline = performance.now() + startPatience;
  while (!ended.signal.aborted) {
    const postmaster = findPostmaster(layout);
    if (postmaster && postmaster.process.pid === child.pid && postmaster.status === 'ready')
      return postmaster;
    if (performance.now() > deadline) {
      child.kill('SIGQUIT');
      throw new ClusterError(
        `Postgres was not ready after ${startPatience / 1000} s. Its log: ${layout.log}`,
      );
    }
    await sleep(10);
  }
  return { output: readFileSync(layout.log).subarray(logStart).toString() };
}

function serverArguments(layout: Layout, settings: Record<string, string>): string[] {
  const all = {
    listen_addresses: '',
    // Quoted, because a list of folders is split at commas and stripped of spaces.
    unix_socket_directories: `"${layout.run.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    // For several servers of Holdfast on one folder, with a pool of up to 20 each.
    max_connections: '100',
    // The same on every machine, instead of what initdb found possible.
    shared_buffers: '128MB',
    // All statements are short: compiling one costs more than it saves.
    jit: 'off',
    // Nobody rotates the log of a quiet server while it runs.
    log_checkpoints: 'off',
    ...settings,
  };
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return ['-D', layout.pgdata, '-p', String(port), ...flags];
}

function openLog(path: string): number {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > largestLog) renameSync(path, `${path}.1`);
  return openSync(path, 'a', 0o600);
}
