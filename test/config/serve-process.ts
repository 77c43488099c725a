import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';

const binary = fileURLToPath(new URL('../../bin/holdfast.js', import.meta.url));

export interface ServeOptions {
  readonly args?: readonly string[];
  /** Beside PATH and HOLDFAST_DATA, nothing of the tests' own environment is passed on. */
  readonly env?: NodeJS.ProcessEnv;
  /** The data folder; by default a new one. */
  readonly folder?: string;
  /** For node itself. */
  readonly nodeArgs?: readonly string[];
  /** In a process group of its own, as a terminal has it. */
  readonly ownGroup?: boolean;
}

/** How a process ended. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A `holdfast serve` in a process of its own. */
export interface ServeProcess {
  readonly child: ChildProcess;
  readonly folder: string;
  readonly ended: Promise<Ending>;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** What it said when it was ready. Rejects when it ended before. */
  readonly ready: Promise<{ url: string; tokenFile?: string }>;
  /** The owner's secret, from the data folder. */
  ownerToken(): string;
  /** Ends it with SIGTERM. */
  stop(): Promise<Ending>;
}

const running = new Set<ServeProcess>();
const folders = new Set<string>();

afterAll(async () => {
  await Promise.all([...running].map((process) => process.stop()));
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A new folder that is deleted at the end of the test file. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-serve-'));
  folders.add(folder);
  return folder;
}

/** Starts `holdfast serve --json` on a free port. It is stopped with the test file, if not before. */
export function startServe(options: ServeOptions = {}): ServeProcess {
  const folder = options.folder ?? newFolder();
  const args = [...(options.nodeArgs ?? []), binary, 'serve', '--json', ...(options.args ?? [])];
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { PATH: process.env.PATH, HOLDFAST_DATA: folder, PORT: '0', ...options.env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    detached: options.ownGroup === true,
  });
  let [stdout, stderr] = ['', ''];
  child.stdout?.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  const ended = new Promise<Ending>((resolve) =>
    child.once('close', (code, signal) => {
      running.delete(server);
      resolve({ code, signal });
    }),
  );
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const ready = new Promise<{ url: string; tokenFile?: string }>((resolve, reject) => {
    lines.on('line', (line) => line.startsWith('{') && resolve(JSON.parse(line)));
    ended.then(({ code }) => reject(new Error(`holdfast serve ended with ${code}: ${stderr}`)));
  });
  ready.catch(() => {});
  const server: ServeProcess = {
    child,
    folder,
    ended,
    ready,
    stdout: () => stdout,
    stderr: () => stderr,
    ownerToken: () => readFileSync(join(folder, 'admin-token'), 'utf8').trim(),
    stop: () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      return ended;
    },
  };
  running.add(server);
  return server;
}

/** One call over Connect with JSON. */
export async function callJson(
  url: string,
  rpc: string,
  request: unknown,
  token: string,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${url}/holdfast.v1.${rpc}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(request),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}
