import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { createTestDatabase } from '../support/postgres.js';

const binary = fileURLToPath(new URL('../../bin/holdfast.js', import.meta.url));

/** A server in a process of its own. */
export interface RealServer {
  url: string;
  ownerToken: string;
  stop(): Promise<void>;
}

/** Runs `holdfast serve` on a free port over a database of its own, in ENFORCE. */
export async function startRealServer(): Promise<RealServer> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-serve-'));
  const database = await createTestDatabase();
  const child = spawn(process.execPath, [binary, 'serve', '--json', '--port', '0', '--data', folder], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: database.url,
      LOCK_ENFORCEMENT: 'enforce',
      LOG_LEVEL: 'silent',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  const complaints = text(child.stderr);
  const firstLine = once(createInterface(child.stdout), 'line');
  const died = exited.then(async () => {
    rmSync(folder, { recursive: true, force: true });
    throw new Error(`the server ended: ${await complaints}`);
  });
  died.catch(() => {});
  const [line] = await Promise.race([firstLine, died]);
  const { url, tokenFile } = JSON.parse(line);
  return {
    url,
    ownerToken: readFileSync(tokenFile, 'utf8').trim(),
    async stop() {
      child.kill('SIGTERM');
      await exited;
      await died.catch(() => {});
    },
  };
}
