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
  readonly externalKey: string | undefined;
  readonly result: string;
  readonly createdAt: Micros;
  readonly createdBy: string;
  readonly updatedAt: Micros;
  readonly closedAt: Micros | undefined;
  readonly closedBy: string | undefined;
}
