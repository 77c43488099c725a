import { decideUpdate } from '../domain/content.js';
import type { Decision } from '../domain/decision.js';
import { decideAddDependency, type EdgeFacts } from '../domain/dependencies.js';
import { grouped } from '../domain/grouped.js';
import type { ListedEdge, ListedTask } from '../domain/import-list.js';
import type { Problem } from '../domain/problem.js';
import { decideComplete, decideDrop } from '../domain/transitions.js';
import { guarded } from '../domain/write.js';
import { Contention } from '../store/database-error.js';
import { readEdgeFacts } from '../store/edges.js';
import { type Mutation, mutate } from '../store/mutate.js';
import type { TaskRead } from '../store/read-task.js';
import { type Amendment, type Draft, IMPORT_GUARD, type Import, type Refused } from './import-draft.js';

/** The writes under way at once: they are gathered into few statements, and leave connections to others. */
const AT_ONCE = 16;

/** Whether a record does something to the task that is there. */
export const amends = ({ content, edges, close }: Amendment): boolean =>
  content !== undefined || edges.length > 0 || close !== undefined;

/**
 * Brings tasks that are there up to date, each write by the rules and through the guard: contents and edges first,
 * then what is finished, in the order in which they wait for each other.
 *
 * @param idOf the id of each task that is there by now, by its key
 * @returns the records that were refused, and why
 */
export async function amendAll(
  work: Import,
  amendments: readonly Amendment[],
  idOf: (key: string) => string,
): Promise<Map<number, Refused>> {
  const refused = new Map<number, Refused>();
  const attempt =
    (step: (amendment: Amendment) => Promise<Refused | undefined>) => async (one: Amendment) => {
      const why = await step(one).catch((error: unknown) => {
        if (error instanceof Contention) return error.message;
        throw error;
      });
      if (why !== undefined) refused.set(one.record, why);
    };
  await eachOf(amendments.filter(amends), attempt(contentAndEdges(work, idOf)));
  for (const wave of waves(amendments.filter(({ close, record }) => close && !refused.has(record)))) {
    await eachOf(wave, attempt(closing(work)));
  }
  return refused;
}

const contentAndEdges =
  (work: Import, idOf: (key: string) => string) =>
  async ({ task, read, content, edges }: Amendment): Promise<Refused | undefined> => {
    const { caller } = work;
    if (content) {
      const refused = await write(work, read.state.taskId, {
        decide: (now) => decideUpdate(now, caller, IMPORT_GUARD, now.task, work.wanted(task), undefined),
      });
      if (refused) return refused;
    }
    for (const edge of edges) {
      const refused = await addEdge(work, edge, idOf);
      if (refused) return refused;
    }
    return undefined;
  };

function addEdge(work: Import, { waiting, blocker, ofParent }: ListedEdge, idOf: (key: string) => string) {
  const edge = { blockerId: idOf(blocker), acceptDropped: ofParent };
  return write<EdgeFacts>(work, idOf(waiting), {
    gather: (now) => readEdgeFacts(work.store, work.project, now.state, edge.blockerId),
    decide: (now, facts) => decideAddDependency(now, work.caller, IMPORT_GUARD, facts, edge),
  });
}

const closing =
  (work: Import) =>
  ({ task, read, close }: Amendment): Promise<Refused | undefined> =>
    write(work, read.state.taskId, {
      along: { dependents: close === 'DROPPED' },
      decide: (now) => decideClose(work, now, task),
    });

const decideClose = ({ caller }: Import, now: TaskRead, { status, result }: ListedTask): Decision<string> =>
  status === 'DROPPED'
    ? decideDrop(now, caller, IMPORT_GUARD, result, now.dependents)
    : decideComplete(now, caller, IMPORT_GUARD, result, now.task, now.unmet);

async function write<Facts>(
  { store, project }: Import,
  taskId: string,
  mutation: Pick<Mutation<unknown, Facts>, 'along' | 'gather' | 'decide'>,
): Promise<Problem | undefined> {
  const outcome = await mutate<unknown, Facts>(store, { project, taskId, ...mutation });
  return outcome.kind === 'PROBLEM' ? outcome.problem : undefined;
}

/** Groups of tasks to close, each group after those that its tasks wait for. */
function waves(amendments: readonly Amendment[]): Amendment[][] {
  const childrenOf = grouped(amendments, ({ task }) => task.parent);
  const left = new Map(amendments.map((amendment) => [amendment.task.key, amendment]));
  const groups: Amendment[][] = [];
  while (left.size > 0) {
    const next = [...left.values()].filter(
      ({ task }) =>
        !task.blockedBy.some((key) => left.has(key)) &&
        !(childrenOf.get(task.key) ?? []).some((child) => left.has(child.task.key)),
    );
    // A cycle was refused before. Without this, one that slipped through would never end.
    if (next.length === 0) return [...groups, [...left.values()]];
    for (const { task } of next) left.delete(task.key);
    groups.push(next);
  }
  return groups;
}

async function eachOf<Item>(items: readonly Item[], run: (item: Item) => Promise<void>): Promise<void> {
  const queue = items.values();
  const lane = async () => {
    for (const item of queue) await run(item);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, lane));
}

/** What the guard would say to the records that change a task, as the project stands. Writes nothing. */
export function foreseen(work: Import, { amendments, present }: Draft): Map<number, Refused> {
  const { caller } = work;
  const allowed = (read: TaskRead) => guarded(read, caller, IMPORT_GUARD, () => ({ answer: undefined }));
  const verdicts = amendments.flatMap(({ record, task, read, content, edges, close }) => {
    const decisions: Decision<unknown>[] = [
      ...(content ? [allowed(read)] : []),
      ...edges.map(({ waiting }) => allowed(present.get(waiting) ?? read)),
      // What it waits for is closed before it.
      ...(close ? [decideClose(work, { ...read, state: { ...read.state, unmet: 0 } }, task)] : []),
    ];
    const bad = decisions.find((decision) => 'problem' in decision);
    return bad && 'problem' in bad ? [[record, bad.problem] as const] : [];
  });
  return new Map(verdicts);
}
