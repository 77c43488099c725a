import { TaskStatus } from '@holdfast/proto/task';
import { type FileTask, isFinished } from './task-file.js';

type ByKey = ReadonlyMap<string, FileTask>;

const byKey = (tasks: readonly FileTask[]): ByKey => new Map(tasks.map((task) => [task.externalKey, task]));

/** For each task, those that it waits for: what it names, and its sub-tasks. */
function waitsOf(tasks: readonly FileTask[]): Map<string, string[]> {
  const waits = new Map(tasks.map(({ externalKey, blockedBy }) => [externalKey, [...blockedBy]]));
  for (const { externalKey, parent } of tasks) waits.get(parent)?.push(externalKey);
  return waits;
}

/**
 * Lets unfinished sub-tasks wait for what their parents wait for, as the trackers do that the files come from: here a
 * parent that is blocked does not block its sub-tasks. Left out where it would close a cycle.
 */
export function inheritBlockers(tasks: readonly FileTask[]): void {
  const known = byKey(tasks);
  const waits = waitsOf(tasks);
  const own = new Map(tasks.map(({ externalKey, blockedBy }) => [externalKey, [...blockedBy]]));
  const leadsTo = (from: string, to: string) => {
    const seen = new Set([from]);
    for (const key of seen) {
      if (key === to) return true;
      for (const next of waits.get(key) ?? []) seen.add(next);
    }
    return false;
  };
  for (const task of tasks) {
    if (isFinished(task)) continue;
    const above = new Set<string>();
    for (let key = task.parent; known.has(key) && !above.has(key); key = known.get(key)?.parent ?? '') {
      above.add(key);
      for (const blocker of own.get(key) ?? []) {
        if (task.blockedBy.includes(blocker) || leadsTo(blocker, task.externalKey)) continue;
        task.blockedBy.push(blocker);
        waits.get(task.externalKey)?.push(blocker);
      }
    }
  }
}

/**
 * Takes away what finished tasks still wait for: the server refuses a DONE task that does, and nobody needs to know.
 * Unfinished sub-tasks of finished ones become tasks of their own.
 *
 * @returns how many such edges there were
 */
export function unlinkFinished(tasks: readonly FileTask[]): number {
  const known = byKey(tasks);
  let cut = 0;
  for (const task of tasks) {
    if (task.status === TaskStatus.DONE) {
      const kept = task.blockedBy.filter(
        (key) => (known.get(key)?.status ?? TaskStatus.DONE) === TaskStatus.DONE,
      );
      cut += task.blockedBy.length - kept.length;
      task.blockedBy = kept;
    }
    const parent = known.get(task.parent);
    if (parent && isFinished(parent) && !isFinished(task)) {
      task.parent = '';
      cut++;
    }
  }
  return cut;
}

/**
 * Tasks in groups that must be imported together, each group after those that it names. Together belong a parent and
 * its sub-tasks, else the parent would be up for grabs before they are there.
 */
export function groupsInOrder(tasks: readonly FileTask[]): FileTask[][] {
  const known = byKey(tasks);
  const ties = new Map(
    tasks.map(({ externalKey, blockedBy, parent }) => [
      externalKey,
      [...blockedBy, parent].filter((key) => known.has(key)),
    ]),
  );
  for (const { externalKey, parent } of tasks) ties.get(parent)?.push(externalKey);
  const place = new Map(tasks.map(({ externalKey }, at) => [externalKey, at]));
  return strongComponents([...known.keys()], (key) => ties.get(key) ?? []).map((keys) =>
    keys.sort((a, b) => (place.get(a) ?? 0) - (place.get(b) ?? 0)).flatMap((key) => known.get(key) ?? []),
  );
}

/** Tarjan's algorithm without recursion, since chains may be long: each component after those it leads to. */
function strongComponents(nodes: readonly string[], next: (node: string) => readonly string[]): string[][] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const onStack = new Set<string>();
  const components: string[][] = [];
  const lower = (node: string, to: number) => low.set(node, Math.min(low.get(node) ?? to, to));

  for (const root of nodes) {
    const path: { node: string; at: number }[] = [];
    const enter = (node: string) => {
      index.set(node, index.size);
      lower(node, index.size - 1);
      stack.push(node);
      onStack.add(node);
      path.push({ node, at: 0 });
    };
    if (!index.has(root)) enter(root);
    for (let visit = path.at(-1); visit; visit = path.at(-1)) {
      const { node } = visit;
      const to = next(node)[visit.at++];
      if (to !== undefined) {
        if (!index.has(to)) enter(to);
        else if (onStack.has(to)) lower(node, index.get(to) ?? 0);
        continue;
      }
      path.pop();
      const above = path.at(-1);
      if (above) lower(above.node, low.get(node) ?? 0);
      if (low.get(node) !== index.get(node)) continue;
      const component = stack.splice(stack.lastIndexOf(node));
      for (const member of component) onStack.delete(member);
      components.push(component);
    }
  }
  return components;
}
