import type { ListedEdge, Surroundings } from './import-list.js';

interface Step {
  readonly to: string;
  /** The record that adds the edge; undefined for an edge that is there. */
  readonly record: number | undefined;
}

interface Visit {
  readonly node: string;
  readonly via: number | undefined;
}

/** A cycle that an import would close, told as one sentence, and the first record that takes part in closing it. */
export interface ListedCycle {
  readonly record: number;
  readonly path: readonly string[];
}

/**
 * Cycles that the added edges would close, also through tasks that are there, at any depth: without the records that
 * these name, there is none. One search for all of them, since a list may be one knot of a great many cycles.
 *
 * @param there for each task that is there, by its id, the ids of those that it waits for
 */
export function findCycles(
  added: readonly ListedEdge[],
  { present }: Surroundings,
  there: ReadonlyMap<string, readonly string[]>,
): ListedCycle[] {
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
  const search = new CycleSearch(steps);
  for (const { waiting } of added) search.from(nodeOf(waiting));
  return search.found.map(({ record, nodes }) => ({ record, path: nodes.map(name) }));
}

/** Depth first, without recursion: a chain may be longer than any stack. */
class CycleSearch {
  readonly found: { readonly record: number; readonly nodes: readonly string[] }[] = [];
  readonly #steps: ReadonlyMap<string, readonly Step[]>;
  readonly #finished = new Set<string>();
  /** Records that were found in a cycle: their edges are not gone any more. */
  readonly #removed = new Set<number | undefined>();
  /** How many of a node's steps lead nowhere new; it stays when the node is left and come back to. */
  readonly #done = new Map<string, number>();

  constructor(steps: ReadonlyMap<string, readonly Step[]>) {
    this.#steps = steps;
  }

  from(start: string): void {
    const path: Visit[] = this.#finished.has(start) ? [] : [{ node: start, via: undefined }];
    const onPath = new Map([[start, 0]]);
    for (let visit = path.at(-1); visit; visit = path.at(-1)) {
      const { node } = visit;
      const done = this.#done.get(node) ?? 0;
      const step = this.#steps.get(node)?.[done];
      if (!step) {
        this.#finished.add(node);
        onPath.delete(node);
        path.pop();
        continue;
      }
      const seenAt = onPath.get(step.to);
      if (this.#removed.has(step.record) || this.#finished.has(step.to)) this.#done.set(node, done + 1);
      else if (seenAt === undefined) {
        onPath.set(step.to, path.length);
        path.push({ node: step.to, via: step.record });
      } else {
        const record = this.#cycle(path.slice(seenAt), step);
        this.#done.set(node, done + 1);
        // Back to where its first edge was gone.
        const from = record === undefined ? -1 : path.findIndex(({ via }) => via === record);
        for (const left of from < 0 ? [] : path.splice(from)) onPath.delete(left.node);
      }
    }
  }

  /** @returns the first record that takes part; undefined when only edges that are there do */
  #cycle([first, ...rest]: readonly Visit[], { record: last }: Step): number | undefined {
    const vias = [...rest.map(({ via }) => via), last];
    const records = vias.filter((via) => via !== undefined);
    if (!first || records.length === 0) return undefined;
    const record = records.reduce((least, one) => Math.min(least, one));
    this.#removed.add(record);
    this.found.push({ record, nodes: [first, ...rest].map(({ node }) => node) });
    return record;
  }
}
