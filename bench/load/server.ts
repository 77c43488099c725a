import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** In bytes. */
export interface Memory {
  /** From the system: what is held and what is free between. */
  readonly rss: number;
  /** By objects and buffers. */
  readonly held: number;
}

export interface BenchServer {
  readonly port: number;
  readonly token: string;
  readonly databaseUrl: string;
  /** What the server's process needs, once all is collected that nothing refers to. */
  memory(): Promise<Memory>;
  stop(): Promise<void>;
}

const BIN = fileURLToPath(new URL('../../bin/holdfast.js', import.meta.url));
const MEMORY_PROBE = ['--import', new URL('./memory-probe.js', import.meta.url).href];

/** A server of its own as `npm start` runs it: embedded Postgres with fsync, in a throw-away folder. */
export async function startBenchServer(): Promise<BenchServer> {
  const data = await mkdtemp(join(tmpdir(), 'holdfast-bench-'));
  const args = [...MEMORY_PROBE, BIN, 'serve', '--port', '0', '--data', data, '--json'];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const memory = async () => {
    child.send('memory');
    const [answer] = await once(child, 'message');
    return answer as Memory;
  };
  const stop = async () => {
    await end(child);
    await rm(data, { recursive: true, force: true });
  };
  try {
    const { url, tokenFile, databaseUrl } = JSON.parse(await firstLine(child)) as Record<string, string>;
    const token = (await readFile(tokenFile as string, 'utf8')).trim();
    return {
      port: Number(new URL(url as string).port),
      token,
      databaseUrl: databaseUrl as string,
      memory,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function firstLine(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) return line;
  throw new Error('the server ended before it listened');
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}
