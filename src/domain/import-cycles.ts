import type { ListedEdge, Surroundings } from './import-list.js';

interface Step {
  readonly to: string;
  /** The record that adds the edge; undefined for an edge that is there. */
  readonly record: number | undefined;
}

interface Visit {
  readonly node: string;
  readonly via: number | undefined;
  next: number;
}

/** A cycle that an import would close, told as one sentence, and the first record that takes part in closing it. */
export interface ListedCycle {
  readonly record: number;
  readonly path: readonly string[];
}

/**
 * One cycle that the added edges would close, also through tasks that are there, at any depth.
 *
 * @param there for each task that is there, by its id, the ids of those that it waits for
 */
export function findCycle(
  added: readonly ListedEdge[],
  { present }: Surroundings,
  there: ReadonlyMap<string, readonly string[]>,
): ListedCycle | undefined {
  // A task that is there goes by its id, so that both kinds of edges meet in it.
  const keyOf = new Map([...present].map(([key, { id }]) => [`id ${id}`, key]));
  const nodeOf = (key: string) => {
    const found = present.get(key);
    return found ? `id ${found.id}` : `key ${key}`;
  };
  const steps = new Map<string, Step[]>();
  const add = (from: string, step: Step) => {
    const known = steps.get(from);
    if (known) known.push(step);
    else steps.set(from, [step]);
  };
  for (const { record, waiting, blocker } of added) add(nodeOf(waiting), { to: nodeOf(blocker), record });
  for (const [id, blockers] of there) {
    for (const blocker of blockers) add(`id ${id}`, { to: `id ${blocker}`, record: undefined });
  }

  const name = (node: string) => keyOf.get(node) ?? node.slice(node.indexOf(' ') + 1);
  const finished = new Set<string>();
  for (const { waiting } of added) {
    const cycle = cycleFrom(nodeOf(waiting), steps, finished);
    if (!cycle) continue;
    const records = cycle.flatMap(({ via }) => (via === undefined ? [] : [via]));
    return { record: Math.min(...records), path: cycle.map(({ node }) => name(node)) };
  }
  return undefined;
}

/** Depth first, without recursion: a chain may be longer than any stack. Each visit of the cycle has the edge into it. */
function cycleFrom(
  start: string,
  steps: ReadonlyMap<string, readonly Step[]>,
  finished: Set<string>,
): Visit[] | undefined {
  if (finished.has(start)) return undefined;
  const path: Visit[] = [{ node: start, via: undefined, next: 0 }];
  const onPath = new Map([[start, 0]]);
  for (let visit = path.at(-1); visit; visit = path.at(-1)) {
    const step = steps.get(visit.node)?.[visit.next++];
    if (!step) {
      finished.add(visit.node);
      onPath.delete(visit.node);
      path.pop();
      continue;
    }
    const seenAt = onPath.get(step.to);
    if (seenAt !== undefined) {
      const [first, ...rest] = path.slice(seenAt);
      return first ? [{ ...first, via: step.record }, ...rest] : undefined;
    }
    if (finished.has(step.to)) continue;
    onPath.set(step.to, path.length);
    path.push({ node: step.to, via: step.record, next: 0 });
  }
  return undefined;
}
