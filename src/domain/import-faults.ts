import { MAX_BLOCKERS } from './dependencies.js';
import { grouped } from './grouped.js';
import { findCycles } from './import-cycles.js';
import { addedEdges, isFinished, type ListedTask, type Surroundings } from './import-list.js';
import { satisfies } from './neighbours.js';
import type { TaskStatus } from './task-state.js';

type Edges = ReadonlyMap<string, readonly string[]>;

/**
 * What is wrong with each record of a list, as one sentence; undefined for the good ones. A record that needs a
 * faulty one is faulty, too, so that the good ones can be imported without the others.
 *
 * @param there for each task that is there and that the added edges could lead to, those that it waits for
 */
export function faultsIn(
  list: readonly ListedTask[],
  surroundings: Surroundings,
  there: Edges,
): (string | undefined)[] {
  const check = new ListCheck(list, surroundings);
  check.addCycles(there);
  check.addOverloads();
  check.addWhatFollows();
  return check.faults;
}

const quoted = (text: string) => JSON.stringify(text.length > 80 ? `${text.slice(0, 79)}…` : text);

class ListCheck {
  readonly faults: (string | undefined)[];
  readonly #list: readonly ListedTask[];
  readonly #surroundings: Surroundings;
  /** The first record of each key; the others with it are faulty. */
  readonly #recordOf = new Map<string, number>();
  /** The records that name each key as their parent. */
  readonly #childrenOf: ReadonlyMap<string | undefined, readonly number[]>;
  readonly #keyOf: ReadonlyMap<string, string>;

  constructor(list: readonly ListedTask[], surroundings: Surroundings) {
    this.#list = list;
    this.#surroundings = surroundings;
    this.#keyOf = new Map([...surroundings.present].map(([key, { id }]) => [id, key]));
    this.#childrenOf = grouped([...list.keys()], (record) => list[record]?.parent);
    this.faults = list.map(({ flaw }) => flaw);
    for (const [record, { key, line, flaw }] of list.entries()) {
      const first = this.#recordOf.get(key);
      if (first === undefined) this.#recordOf.set(key, record);
      else if (flaw === undefined)
        this.faults[record] = `its external_key ${quoted(key)} is that of ${this.#placeOf(first, line)}, too`;
    }
  }

  /** Takes a record out of each cycle, until there is none. */
  addCycles(there: Edges): void {
    for (;;) {
      const cycles = findCycles(this.#added(), this.#surroundings, there);
      if (cycles.length === 0) return;
      for (const { record, path } of cycles) {
        const shown = path.length > 20 ? [...path.slice(0, 10), '…', ...path.slice(-9)] : path;
        const way = [...shown, path[0] ?? ''].map(quoted).join(' waits for ');
        this.faults[record] = `it would be in a cycle of ${path.length} task(s): ${way}`;
      }
    }
  }

  addOverloads(): void {
    const counts = new Map<string, number>();
    for (const { waiting, record } of this.#added()) {
      const before = counts.get(waiting) ?? this.#surroundings.present.get(waiting)?.state.blockers ?? 0;
      counts.set(waiting, before + 1);
      if (before >= MAX_BLOCKERS)
        this.faults[record] ??= `${quoted(waiting)} would wait for more than ${MAX_BLOCKERS} others`;
    }
  }

  /** What is faulty because of others, again and again until nothing more is; each time, only what that may concern. */
  addWhatFollows(): void {
    const named = [...this.#list.entries()].flatMap(([record, { blockedBy, parent }]) =>
      [...blockedBy, ...(parent ? [parent] : [])].map((key) => ({ key, record })),
    );
    const needing = grouped(named, ({ key }) => key);
    const waitingHere = [...this.#list.entries()]
      .filter(([, { key, status }]) => status === 'DONE' && this.#surroundings.present.has(key))
      .map(([record]) => record);
    let concerned: Iterable<number> = this.#list.keys();
    for (let found = true; found; ) {
      const faulty: string[] = [];
      for (const record of concerned) {
        const task = this.#list[record];
        if (!task || this.faults[record] !== undefined) continue;
        const fault = this.#missing(task) ?? this.#unfinished(task);
        if (fault === undefined) continue;
        this.faults[record] = fault;
        faulty.push(task.key);
      }
      found = faulty.length > 0;
      const theirs = faulty.flatMap((key) => (needing.get(key) ?? []).map(({ record }) => record));
      concerned = new Set([...theirs, ...(found ? waitingHere : [])]);
    }
  }

  #added() {
    return addedEdges(this.#list, this.#surroundings, (record) => this.faults[record] === undefined);
  }

  #placeOf(record: number, line: number): string {
    const at = this.#list[record]?.line ?? 0;
    return at > 0 && line > 0 ? `line ${at}` : `record ${record + 1}`;
  }

  /** The record that brings a key, if it is a good one. */
  #good(key: string): ListedTask | undefined {
    const record = this.#recordOf.get(key);
    return record !== undefined && this.faults[record] === undefined ? this.#list[record] : undefined;
  }

  /** What it names and nobody has. */
  #missing({ blockedBy, parent }: ListedTask): string | undefined {
    const { present, assumed } = this.#surroundings;
    const named = [...blockedBy.map((key) => ['blocked_by', key]), ...(parent ? [['parent', parent]] : [])];
    for (const [field, key = ''] of named) {
      if (present.has(key) || assumed.has(key) || this.#good(key)) continue;
      return this.#recordOf.has(key)
        ? `${field} names ${quoted(key)}, which has an error itself`
        : `${field} names ${quoted(key)}: there is no such task in the list or the project`;
    }
    return undefined;
  }

  /** What it would still wait for although it is DONE. */
  #unfinished(task: ListedTask): string | undefined {
    const { present } = this.#surroundings;
    const here = present.get(task.key);
    if (task.status !== 'DONE' || (here && isFinished(here.state.status))) return undefined;

    const children = new Set(
      (this.#childrenOf.get(task.key) ?? [])
        .filter((record) => this.faults[record] === undefined)
        .map((record) => (this.#list[record] as ListedTask).key),
    );
    const open = new Set(
      [...task.blockedBy, ...children].filter((key) => !this.#satisfies(key, children.has(key))),
    );
    for (const { taskId, title } of here?.unmet ?? []) {
      const key = this.#keyOf.get(taskId);
      if (key === undefined || !this.#satisfies(key, children.has(key))) open.add(key ?? title);
    }
    if (here && here.state.unmet > here.unmet.length) open.add('many others');
    if (open.size === 0) return undefined;
    const names = [...open].slice(0, 3).map(quoted).join(', ');
    return `it is DONE in the list, but waits for ${names}${open.size > 3 ? ' and more' : ''}: not DONE`;
  }

  /** Whether a task lets those go on that wait for it, once the list is imported. */
  #satisfies(key: string, acceptDropped: boolean): boolean {
    const here = this.#surroundings.present.get(key)?.state.status;
    const listed = this.#good(key)?.status;
    const after: TaskStatus = here && isFinished(here) ? here : (listed ?? here ?? 'DONE');
    return satisfies(after, acceptDropped);
  }
}
