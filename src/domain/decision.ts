import type { Change } from './change.js';
import type { EventDraft } from './event.js';
import type { Micros } from './instant.js';
import type { Problem } from './problem.js';
import type { Settings } from './settings.js';
import type { TaskState } from './task-state.js';

/** What a decision sees: one consistent read of a task, and the clock of that read. */
export interface Snapshot {
  readonly now: Micros;
  readonly state: TaskState;
  readonly settings: Settings;
}

/**
 * What a decision comes to. `change` must be applied for the answer to be true. `record` is kept in the
 * history although nothing changes: a refusal that people should see.
 */
export type Decision<Answer> =
  | {
      readonly answer: Answer;
      readonly change?: Change;
      /** Changes of other tasks without which `change` must not happen. */
      readonly also?: readonly Change[];
      readonly record?: EventDraft;
      /** The id of what the change makes or leases: a remembered request refers to it. */
      readonly ref?: string;
    }
  | { readonly problem: Problem; readonly record?: EventDraft };
