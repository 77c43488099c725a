import type { Holder } from './principal.js';
import type { TaskStatus } from './task-state.js';

/** An unfinished task that another one waits for. */
export interface UnmetDependency {
  readonly taskId: string;
  readonly title: string;
  readonly status: TaskStatus;
  readonly holder: Holder | undefined;
}

/** A task that waits for another one. */
export interface Dependent {
  readonly taskId: string;
  readonly acceptDropped: boolean;
}

/** DONE satisfies; DROPPED only an edge that accepts it; QUARANTINED never. */
export function satisfies(blocker: TaskStatus, acceptDropped: boolean): boolean {
  return blocker === 'DONE' || (blocker === 'DROPPED' && acceptDropped);
}
