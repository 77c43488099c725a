import { timestampMs } from '@bufbuild/protobuf/wkt';
import { type Task, TaskStatus } from '@holdfast/proto/task';
import type { Board } from '../live/board.js';

export const COLUMNS = ['ready', 'progress', 'blocked', 'quarantined', 'done'] as const;
export type Column = (typeof COLUMNS)[number];

/** What of the board is shown. */
export interface Filter {
  /** In title, id, label, holder or assignee. */
  readonly text: string;
  readonly planId: string;
  readonly label: string;
  /** Holds it, or is to do it. */
  readonly principal: string;
}

export const NO_FILTER: Filter = { text: '', planId: '', label: '', principal: '' };

export const isFiltered = (filter: Filter): boolean => Object.values(filter).some((value) => value !== '');

/** Where on the board a task is. */
export function columnOf(task: Task, board: Board): Column {
  if (board.leases.has(task.id)) return 'progress';
  if (task.status === TaskStatus.DONE || task.status === TaskStatus.DROPPED) return 'done';
  if (task.status === TaskStatus.QUARANTINED) return 'quarantined';
  return task.unmetDependencies > 0 ? 'blocked' : 'ready';
}

/** The tasks of each column that pass the filter, in the order in which they are shown. */
export function columnsOf(board: Board, filter: Filter): Record<Column, Task[]> {
  const columns: Record<Column, Task[]> = { ready: [], progress: [], blocked: [], quarantined: [], done: [] };
  for (const task of board.tasks.values()) {
    if (passes(task, board, filter)) columns[columnOf(task, board)].push(task);
  }
  columns.ready.sort(byRank);
  columns.blocked.sort(byRank);
  columns.quarantined.sort(byRank);
  columns.progress.sort((a, b) => grantedAt(board, b) - grantedAt(board, a));
  columns.done.sort((a, b) => closedAt(b) - closedAt(a));
  return columns;
}

function passes(task: Task, board: Board, { text, planId, label, principal }: Filter): boolean {
  if (planId && task.planId !== planId) return false;
  if (label && !task.labels.includes(label)) return false;
  const holder = board.leases.get(task.id)?.holder;
  if (principal && holder?.principal !== principal && task.assignee !== principal) return false;
  if (!text) return true;
  const sought = text.toLowerCase();
  return [
    task.title,
    task.id,
    task.externalKey,
    task.assignee,
    holder?.principal,
    holder?.executionId,
    ...task.labels,
  ].some((value) => value?.toLowerCase().includes(sought));
}

/** As the ready queue has it: priority, then the plan's order, then age, in which the board has them already. */
function byRank(a: Task, b: Task): number {
  return b.priority - a.priority || a.planOrder - b.planOrder;
}

const grantedAt = (board: Board, { id }: Task) => board.leases.get(id)?.grantedAtMs ?? 0;
const closedAt = ({ closedAt: at }: Task) => (at ? timestampMs(at) : 0);

/** How far a plan is. */
export interface PlanProgress {
  readonly id: string;
  readonly title: string;
  readonly done: number;
  readonly held: number;
  /** Without the dropped steps. */
  readonly total: number;
}

/** The progress of each plan that has steps; unfinished ones first, newest first. */
export function planProgress(board: Board): PlanProgress[] {
  const counts = new Map<string, { done: number; held: number; total: number }>();
  for (const task of board.tasks.values()) {
    if (!task.planId || task.status === TaskStatus.DROPPED) continue;
    const count = counts.get(task.planId) ?? { done: 0, held: 0, total: 0 };
    counts.set(task.planId, count);
    count.total += 1;
    if (task.status === TaskStatus.DONE) count.done += 1;
    else if (board.leases.has(task.id)) count.held += 1;
  }
  return [...counts]
    .map(([id, count]) => ({ id, title: board.plans.get(id)?.title || id, ...count }))
    .sort((a, b) => Number(a.done === a.total) - Number(b.done === b.total) || (a.id < b.id ? 1 : -1));
}
