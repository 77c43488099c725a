import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { createHoldfast, type Holdfast } from '@holdfast/client';
import { afterAll } from 'vitest';

const binary = fileURLToPath(new URL('../../bin/holdfast.js', import.meta.url));
const running = new Set<ServerProcess>();
const folders: string[] = [];

export interface ServerProcessOptions {
  /** The data folder; where the owner's token is, and the embedded database unless there is another. */
  readonly dataDir: string;
  /** A database to use instead of the embedded one. */
  readonly databaseUrl?: string;
  /** Settings, as environment variables. */
  readonly settings?: Record<string, string>;
}

/** `holdfast serve` in a process of its own, as a person would start it. */
export class ServerProcess {
  readonly url: string;
  readonly databaseUrl: string;
  /** The secret of the owner. */
  readonly ownerToken: string;
  /** What it logged so far. */
  readonly log: readonly string[];
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  readonly #ended: Promise<unknown>;
  readonly #clients: Holdfast[] = [];

  private constructor(
    child: ChildProcessByStdio<null, Readable, Readable>,
    announced: { url: string; databaseUrl: string; tokenFile: string },
    log: readonly string[],
  ) {
    this.#child = child;
    this.#ended = child.exitCode === null ? once(child, 'exit') : Promise.resolve();
    this.url = announced.url;
    this.databaseUrl = announced.databaseUrl;
    this.ownerToken = readFileSync(announced.tokenFile, 'utf8').trim();
    this.log = log;
  }

  /** Starts it and waits until it listens. It is ended with the test file, if the test did not do so before. */
  static async start({ dataDir, databaseUrl, settings }: ServerProcessOptions): Promise<ServerProcess> {
    const args = ['serve', '--json', '--port', '0', '--data', dataDir];
    const child = spawn(process.execPath, [binary, ...args], {
      cwd: tmpdir(),
      env: {
        PATH: process.env.PATH,
        LOG_LEVEL: 'warn',
        ...(databaseUrl && { DATABASE_URL: databaseUrl }),
        ...settings,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const log: string[] = [];
    createInterface({ input: child.stderr }).on('line', (line) => log.push(line));
    const lines = createInterface({ input: child.stdout });
    const exit = once(child, 'exit').then(() => undefined);
    const first = await Promise.race([once(lines, 'line') as Promise<[string]>, exit]);
    if (!first) throw new Error(`the server ended before it listened:\n${log.join('\n')}`);
    const announced = { databaseUrl, ...JSON.parse(first[0]) };
    const server = new ServerProcess(child, announced, log);
    running.add(server);
    return server;
  }

  /** A client of its own connection, closed when the server is ended. It sends each call once. */
  client(token: string, executionId?: string): Holdfast {
    const client = createHoldfast({
      url: this.url,
      token,
      attempts: 1,
      ...(executionId !== undefined && { executionId }),
    });
    this.#clients.push(client);
    return client;
  }

  /** Ends it: in good order by SIGTERM, in the middle of everything by SIGKILL. Resolves when it is gone. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.#child.kill(signal);
    await this.#ended;
    running.delete(this);
    for (const client of this.#clients) client.close();
  }
}

/** A new data folder, removed at the end of the test file. */
export function newServerFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-server-'));
  folders.push(folder);
  return folder;
}

afterAll(async () => {
  for (const server of [...running]) await server.end('SIGTERM');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
