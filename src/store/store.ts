import type { Settings } from '../domain/settings.js';
import { type ApplyResult, apply, type ChangeItem } from './apply.js';
import { createBatcher } from './batcher.js';
import type { Database } from './database.js';
import { faultOf } from './database-error.js';
import { type RefusalItem, recordEvents } from './events.js';
import { type ReadItem, type ReadResult, readTasks } from './read-task.js';

/** What the statements need: the pool, the server's defaults, and whom to tell of commits. */
export interface Store {
  readonly database: Database;
  /** Holds for every project that sets nothing else. */
  readonly defaults: Settings;
  readonly commits: CommitListener;
  /** Reads a task, together with all that are being read at the moment. */
  readonly read: (item: ReadItem) => Promise<ReadResult>;
  /**
   * Applies a change, together with all that are being applied at the moment. It never waits for a row that
   * somebody else has locked: one such row would hold up everybody in the batch.
   */
  readonly applySoon: (item: ChangeItem) => Promise<ApplyResult>;
  /** Keeps an event that tells of no change, together with all that are being kept at the moment. */
  readonly recordSoon: (item: RefusalItem) => Promise<void>;
}

/** Told after each commit of this process; must not throw and must not block. */
export interface CommitListener {
  /** Events were written and wait for their positions. */
  eventsWritten(): void;
  /** A task of this project may have become ready. */
  tasksReady(project: string): void;
  /** A lease was granted that ends in so many microseconds. */
  deadlineSet(remaining: number): void;
}

export function createStore(database: Database, defaults: Settings, commits: CommitListener): Store {
  return {
    database,
    defaults,
    commits,
    read: createBatcher((items) => readTasks(database.sql, defaults, items)),
    applySoon: createBatcher((items) => applyBatch(database, items)),
    recordSoon: createBatcher(async (items) => {
      await recordEvents(database.sql, items);
      return items.map(() => undefined);
    }),
  };
}

async function applyBatch({ sql }: Database, items: readonly ChangeItem[]): Promise<ApplyResult[]> {
  const taken = new Set<string>();
  // One statement changes a row once. A second change of a task was decided on the same row as the first,
  // which moves the row's version: it would be overtaken in any case.
  const firsts = items.filter(({ project, change, also = [] }) => {
    const keys = [change, ...also].map(({ taskId }) => JSON.stringify([project, taskId]));
    if (keys.some((key) => taken.has(key))) return false;
    for (const key of keys) taken.add(key);
    return true;
  });
  let results: ApplyResult[];
  try {
    results = await apply(sql, firsts, 'skip');
  } catch (error) {
    const fault = faultOf(error);
    if (fault !== 'CONTENDED' && fault !== 'DUPLICATE' && fault !== 'TIMED_OUT') throw error;
    // One of them was thrown back, and all with it: each on its own then.
    results = firsts.map(() => ({ kind: 'BUSY' }));
  }
  const byItem = new Map(firsts.map((item, i) => [item, results[i] as ApplyResult]));
  return items.map((item) => byItem.get(item) ?? { kind: 'BUSY' });
}
