import pLimit from 'p-limit';
import type { EventDraft } from '../domain/event.js';
import type { Settings } from '../domain/settings.js';
import { type ApplyResult, apply } from './apply.js';
import { createBatcher } from './batcher.js';
import type { ChangeItem } from './change-item.js';
import type { Database } from './database.js';
import { isThrownBack } from './database-error.js';
import { type EmptyQuestion, type EmptyQueue, explainEmpty } from './empty-queue.js';
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
  /**
   * Applies changes in one statement, waiting for the rows that others have locked. Only half of the pool may wait:
   * one row that stays locked must not hold up everybody else.
   */
  readonly applyWaiting: (items: readonly ChangeItem[]) => Promise<ApplyResult[]>;
  /** Tells why nothing is ready, once for all who ask the same at the moment. */
  readonly explainEmpty: (question: EmptyQuestion) => Promise<EmptyQueue>;
  /** Keeps an event that tells of no change, together with all that are being kept at the moment. */
  readonly recordSoon: (item: RefusalItem) => Promise<void>;
}

/** A lease with a new deadline, by its task. */
interface RenewedLease {
  readonly project: string;
  readonly taskId: string;
}

/** Told after each commit of this process; must not throw and must not block. */
export interface CommitListener {
  /**
   * Events were written and wait for their positions.
   *
   * @param told which, of those that tell what happened to a lease or to a faulty write
   */
  eventsWritten(told?: readonly EventDraft[]): void;
  /** A task of this project may have become ready. */
  tasksReady(project: string): void;
  /**
   * A lease was granted or renewed that ends in so many microseconds.
   *
   * @param renewed whose lease has a new deadline; undefined: it was granted, or its deadline is the old one
   */
  deadlineSet(remaining: number, renewed: RenewedLease | undefined): void;
}

export function createStore(database: Database, defaults: Settings, commits: CommitListener): Store {
  const atOnce = pLimit(Math.max(1, Math.floor(database.poolSize / 2)));
  return {
    database,
    defaults,
    commits,
    read: createBatcher((items) => readTasks(database.hot, defaults, items)),
    applySoon: createBatcher((items) => applyBatch(database, items), tasksOf),
    applyWaiting: (items) => atOnce(() => apply(database.sql, items, 'wait')),
    explainEmpty: createBatcher((questions) => explainEmpty(database.sql, questions)),
    recordSoon: createBatcher(async (items) => {
      await recordEvents(database.hot, items);
      return items.map(() => undefined);
    }),
  };
}

/** One statement changes a row once: a second change of a task goes into the next batch. */
const tasksOf = ({ project, change, also = [] }: ChangeItem) =>
  [change, ...also].map(({ taskId }) => JSON.stringify([project, taskId]));

async function applyBatch({ hot }: Database, items: readonly ChangeItem[]): Promise<ApplyResult[]> {
  try {
    return await apply(hot, items, 'skip');
  } catch (error) {
    if (!isThrownBack(error)) throw error;
    // One of them was thrown back, and all with it: each on its own then.
    return items.map(() => ({ kind: 'BUSY' }));
  }
}
