import type { Settings } from '../domain/settings.js';
import type { Database } from './database.js';

/** What the statements need: the pool, the server's defaults, and whom to tell of commits. */
export interface Store {
  readonly database: Database;
  /** Holds for every project that sets nothing else. */
  readonly defaults: Settings;
  readonly commits: CommitListener;
}

/** Told after each commit of this process; must not throw and must not block. */
export interface CommitListener {
  /** Events were written and wait for their positions. */
  eventsWritten(): void;
  /** A lease was granted that ends in so many microseconds. */
  deadlineSet(remaining: number): void;
}
