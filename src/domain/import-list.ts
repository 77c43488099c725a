import type { UnmetDependency } from './neighbours.js';
import type { TaskState, TaskStatus } from './task-state.js';

/** One task of an external list. Tasks are named by their external keys. */
export interface ListedTask {
  readonly key: string;
  readonly title: string;
  readonly body: string;
  readonly status: 'OPEN' | 'DONE' | 'DROPPED';
  readonly priority: number;
  /** Without repeats. */
  readonly labels: readonly string[];
  /** Without repeats. */
  readonly blockedBy: readonly string[];
  readonly parent: string | undefined;
  readonly plan: string | undefined;
  readonly planTitle: string;
  readonly result: string;
  readonly assignee: string;
  /** Where it stood in its source; 0 when that was not said. */
  readonly line: number;
  /** What is wrong with it by itself. */
  readonly flaw: string | undefined;
}

/** A task that is there already. */
interface PresentTask {
  readonly id: string;
  readonly state: TaskState;
  readonly blockedBy: ReadonlySet<string>;
  /** Some of what it waits for. */
  readonly unmet: readonly UnmetDependency[];
}

/** What the project has of what a list names. */
export interface Surroundings {
  readonly present: ReadonlyMap<string, PresentTask>;
  /** Keys that other parts of the same list will have brought. */
  readonly assumed: ReadonlySet<string>;
}

/** An edge that an import adds: `waiting` waits for `blocker`, both named by their keys. */
export interface ListedEdge {
  /** The record that says so, by its place in the list. */
  readonly record: number;
  readonly waiting: string;
  readonly blocker: string;
  /** The waiting one is the parent: a DROPPED sub-task satisfies it. */
  readonly ofParent: boolean;
}

/** Finished here, however: an import neither reopens it nor lets it wait for anything more. */
export function isFinished(status: TaskStatus): boolean {
  return status === 'DONE' || status === 'DROPPED';
}

/**
 * The edges that importing some records adds. Those that are in place are left out, and so are those of tasks that
 * are finished here, except that a new sub-task of one is there to be refused.
 */
export function addedEdges(
  list: readonly ListedTask[],
  { present }: Surroundings,
  included: (record: number) => boolean,
): ListedEdge[] {
  const isAdded = ({ waiting, blocker, ofParent }: ListedEdge): boolean => {
    const waits = present.get(waiting);
    if (!waits) return true;
    const awaited = present.get(blocker);
    if (isFinished(waits.state.status)) return ofParent && !awaited;
    return !awaited || !waits.blockedBy.has(awaited.id);
  };
  const all = list.flatMap(({ key, blockedBy, parent }, record): ListedEdge[] => {
    if (!included(record)) return [];
    const edges = blockedBy.map((blocker) => ({ record, waiting: key, blocker, ofParent: false }));
    return parent === undefined
      ? edges
      : [...edges, { record, waiting: parent, blocker: key, ofParent: true }];
  });
  // A parent that also names its sub-task waits for it once, as a parent.
  const byEnds = new Map<string, ListedEdge>();
  for (const edge of all) {
    const ends = JSON.stringify([edge.waiting, edge.blocker]);
    if (edge.ofParent || !byEnds.has(ends)) byEnds.set(ends, edge);
  }
  return [...byEnds.values()].filter(isAdded);
}
