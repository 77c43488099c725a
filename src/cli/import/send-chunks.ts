import { ImportAction, type ImportResult } from '@holdfast/proto/task';
import type { Session } from '../session.js';
import type { Chunk } from './chunks.js';

export interface SendOptions {
  dryRun: boolean;
  allowPartial: boolean;
  /** What to bring up to date on tasks that are there. */
  updates: string[];
  /** Told how many tasks were sent so far. */
  tell: (sent: number) => void;
}

/**
 * Sends the chunks of a file, one after the other. Several are tried first, so that an error in a later one keeps all of
 * them out. Sent again after an error on the way, they go on where they stopped, since what is there stays as it is.
 */
export async function sendChunks(
  session: Session,
  chunks: readonly Chunk[],
  options: SendOptions,
): Promise<ImportResult[]> {
  const executionId = await session.writer();
  if (options.dryRun || (chunks.length > 1 && !options.allowPartial)) {
    const foreseen = await send(session, chunks, executionId, { ...options, dryRun: true });
    if (options.dryRun || isRefused(foreseen)) return foreseen;
  }
  return send(session, chunks, executionId, options);
}

/** Whether nothing was imported because of errors: good records are then passed over. */
export function isRefused(results: readonly ImportResult[]): boolean {
  return (
    results.some(({ action }) => action === ImportAction.SKIPPED) ||
    (results.length > 0 &&
      results.every(({ action, taskId }) => action === ImportAction.FAILED && taskId === ''))
  );
}

async function send(
  { holdfast, project }: Session,
  chunks: readonly Chunk[],
  executionId: string,
  { dryRun, allowPartial, updates, tell }: SendOptions,
): Promise<ImportResult[]> {
  const all: ImportResult[] = [];
  for (const { tasks, assumedKeys } of chunks) {
    const { results } = await holdfast.tasks.importTasks({
      project,
      executionId,
      tasks,
      dryRun,
      allowPartial,
      updateMask: { paths: updates },
      assumedKeys: dryRun ? assumedKeys : [],
      requestId: crypto.randomUUID(),
    });
    all.push(...results);
    tell(all.length);
  }
  return all;
}
