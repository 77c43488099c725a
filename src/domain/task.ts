import type { Change } from './change.js';
import type { Content } from './content.js';
import type { Micros } from './instant.js';

/** A task's content: what people and agents read and edit, and what no decision on leases depends on. */
export interface Task extends Content {
  readonly id: string;
  readonly project: string;
  /** Order of creation. */
  readonly seq: number;
  readonly planId: string | undefined;
  /** Its place among the plan's steps, from 1; 0 without a plan. */
  readonly planOrder: number;
  readonly parentId: string | undefined;
  /** The tasks it waits for, sub-tasks included. */
  readonly blockedBy: readonly string[];
  readonly externalKey: string | undefined;
  readonly result: string;
  readonly createdAt: Micros;
  readonly createdBy: string;
  readonly updatedAt: Micros;
  readonly closedAt: Micros | undefined;
  readonly closedBy: string | undefined;
}

/** A task's content after a change that was applied at an instant. */
export function taskAfter(task: Task, { content, closing }: Change, at: Micros): Task {
  return {
    ...task,
    ...content,
    ...(content && { updatedAt: at }),
    ...(closing === 'reopened' && { result: '', closedAt: undefined, closedBy: undefined }),
    ...(typeof closing === 'object' && { result: closing.result ?? '', closedAt: at, closedBy: closing.by }),
  };
}
