import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The server that serve.ts starts. */
export interface VectorServer {
  readonly url: string;
  readonly faultyUrl: string;
  readonly ownerToken: string;
  /** Has the server do one of the acts of README.md. */
  act(step: { act: string; project?: string }): Promise<void>;
  stop(): Promise<void>;
}

/** @param databaseServer where it makes its database */
export async function startVectorServer(databaseServer: string): Promise<VectorServer> {
  const child: ChildProcess = spawn(
    process.execPath,
    ['--import', 'tsx', fileURLToPath(new URL('serve.ts', import.meta.url))],
    {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      env: { PATH: process.env.PATH, TEST_DATABASE_URL: databaseServer },
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const [line] = (await Promise.race([once(lines, 'line'), ended])) as [unknown];
  if (typeof line !== 'string') throw new Error('the server for the vectors ended before it was ready');
  const { url, faultyUrl, controlUrl, ownerToken } = JSON.parse(line);
  return {
    url,
    faultyUrl,
    ownerToken,
    async act(step) {
      const answer = await fetch(controlUrl, { method: 'POST', body: JSON.stringify(step) });
      if (!answer.ok) throw new Error(await answer.text());
    },
    async stop() {
      child.stdin?.end();
      await ended;
    },
  };
}
