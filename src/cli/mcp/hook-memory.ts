import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import envPaths from 'env-paths';

/** What the hooks of one session know from the ones before them: each is a process of its own. */
export interface Remembered {
  /** The executions that the session's agent acts as. */
  executions: string[];
  /** When they were last renewed, in milliseconds since 1970. */
  renewedAt: number;
  /** The lost leases that the agent was told of. */
  told: string[];
}

/** What was remembered of a session; at first, nothing. */
export async function recall(sessionId: string): Promise<Remembered> {
  try {
    return JSON.parse(await readFile(fileOf(sessionId), 'utf8'));
  } catch {
    return { executions: [], renewedAt: 0, told: [] };
  }
}

/** Keeps it for the next hook. Of two at once, the later one wins. */
export async function remember(sessionId: string, known: Remembered): Promise<void> {
  await mkdir(folder(), { recursive: true, mode: 0o700 });
  await writeFile(fileOf(sessionId), JSON.stringify(known), { mode: 0o600 });
}

/** The session is over. */
export async function forget(sessionId: string): Promise<void> {
  await rm(fileOf(sessionId), { force: true });
}

const folder = (): string => join(envPaths('holdfast', { suffix: '' }).cache, 'sessions');

const fileOf = (sessionId: string): string =>
  join(folder(), `${createHash('sha256').update(sessionId).digest('hex').slice(0, 32)}.json`);
