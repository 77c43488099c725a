import type { ContentChange } from '../domain/change.js';
import { type Content, differences } from '../domain/content.js';
import { decideAddChild } from '../domain/dependencies.js';
import type { EventDraft } from '../domain/event.js';
import { grouped } from '../domain/grouped.js';
import { faultsIn } from '../domain/import-faults.js';
import {
  addedEdges,
  isFinished,
  type ListedEdge,
  type ListedTask,
  type Surroundings,
} from '../domain/import-list.js';
import type { Caller } from '../domain/principal.js';
import type { Problem } from '../domain/problem.js';
import { lapsedLease, type TaskState } from '../domain/task-state.js';
import type { GuardedRequest } from '../domain/write.js';
import type { ExtendedParent } from '../store/import-create.js';
import { planIdsByKey, reachableEdges, taskIdsByKey } from '../store/import-read.js';
import { settle } from '../store/mutate.js';
import type { TaskRead } from '../store/read-task.js';
import type { Store } from '../store/store.js';

/** What the guard is told of every write of an import: no record proves a lease. */
export const IMPORT_GUARD: GuardedRequest = {
  rpc: 'ImportTasks',
  proof: undefined,
  proofLeaseTaskId: undefined,
  overrideReason: undefined,
};

/** What is to be imported, by whom and how. */
export interface Import {
  readonly store: Store;
  readonly project: string;
  readonly caller: Caller;
  readonly list: readonly ListedTask[];
  /** Keys that other calls will have brought. */
  readonly assumed: ReadonlySet<string>;
  readonly dryRun: boolean;
  wanted(task: ListedTask): ContentChange;
}

/** What an import does to a task that is there. */
export interface Amendment {
  readonly record: number;
  readonly task: ListedTask;
  readonly read: TaskRead;
  /** Undefined when the content is equal. */
  readonly content: ContentChange | undefined;
  readonly edges: readonly ListedEdge[];
  readonly close: 'DONE' | 'DROPPED' | undefined;
}

/** Why a record could not be imported. */
export type Refused = Problem | string;

/** A parent that the caller may not write, and what the history tells of that: its new sub-tasks are refused. */
interface Refusal {
  readonly state: TaskState;
  readonly record: EventDraft | undefined;
}

/** What an import does, record by record, by one look at the project. */
export interface Draft {
  /** Errors of records; without allow_partial nothing is imported then. */
  readonly faults: readonly (string | undefined)[];
  /** Records whose parents may not be written, and what needs them. */
  readonly refused: ReadonlyMap<number, Refused>;
  readonly refusals: readonly Refusal[];
  readonly present: ReadonlyMap<string, TaskRead>;
  readonly planIds: ReadonlyMap<string, string>;
  /** The records that become tasks, with their edges and those whose parents they get. */
  readonly fresh: readonly number[];
  readonly freshEdges: readonly ListedEdge[];
  readonly parents: readonly ExtendedParent[];
  readonly graphVersion: bigint | undefined;
  readonly amendments: readonly Amendment[];
}

/** Reads what a list is about and works out what importing it does. */
export async function draftOf(work: Import): Promise<Draft> {
  const { store, project, list, assumed } = work;
  const sound = list.filter(({ flaw }) => flaw === undefined);
  const keys = sound.flatMap(({ key, blockedBy, parent }) => [
    key,
    ...blockedBy,
    ...(parent ? [parent] : []),
  ]);
  const plans = sound.flatMap(({ plan }) => plan ?? []);
  const [present, planIds] = await Promise.all([
    presentTasks(work, [...new Set(keys)]),
    planIdsByKey(store, project, [...new Set(plans)]),
  ]);
  const surroundings = surroundingsOf(present, assumed);
  const graph = await graphBehind(
    work,
    present,
    addedEdges(list, surroundings, (record) => list[record]?.flaw === undefined),
  );
  const faults = faultsIn(list, surroundings, graph?.edges ?? new Map());

  const isGood = (record: number) => faults[record] === undefined;
  const { parents, refusals, refused } = judgeParents(work, present, surroundings, isGood);
  const isIncluded = (record: number) => isGood(record) && !refused.has(record);
  const edges = addedEdges(list, surroundings, isIncluded);
  const later = edges.filter((edge) => isLater(edge, present));
  const included = list.flatMap((task, record) => (isIncluded(record) ? [{ task, record }] : []));
  return {
    faults,
    refused,
    refusals,
    present,
    planIds,
    fresh: included.filter(({ task }) => !present.has(task.key)).map(({ record }) => record),
    freshEdges: edges.filter((edge) => !isLater(edge, present)),
    parents,
    graphVersion: graph?.graphVersion,
    amendments: included.flatMap(({ task, record }) => {
      const read = present.get(task.key);
      if (!read) return [];
      const content = work.wanted(task);
      return {
        record,
        task,
        read,
        content: differences<keyof Content>(read.task, content).length > 0 ? content : undefined,
        edges: later.filter((edge) => edge.record === record),
        close: task.status === 'OPEN' || isFinished(read.state.status) ? undefined : task.status,
      };
    }),
  };
}

/** An edge of a task that is there, added after the new tasks by a write of its own, unless it is for a new sub-task. */
const isLater = ({ waiting, blocker, ofParent }: ListedEdge, present: ReadonlyMap<string, TaskRead>) =>
  present.has(waiting) && !(ofParent && !present.has(blocker));

async function presentTasks({ store, project, dryRun }: Import, keys: readonly string[]) {
  const ids = await taskIdsByKey(store, project, keys);
  const found = await Promise.all(
    [...ids].map(async ([key, taskId]): Promise<[string, TaskRead][]> => {
      let { found } = await store.read({ project, taskId });
      if (found && !dryRun && lapsedLease(found.state, found.now)) {
        await settle(store, project, found);
        ({ found } = await store.read({ project, taskId }));
      }
      return found ? [[key, found]] : [];
    }),
  );
  return new Map(found.flat());
}

function surroundingsOf(present: ReadonlyMap<string, TaskRead>, assumed: ReadonlySet<string>): Surroundings {
  const known = [...present].map(([key, { state, task, unmet }]) => {
    return [key, { id: state.taskId, state, unmet, blockedBy: new Set(task.blockedBy) }] as const;
  });
  return { assumed, present: new Map(known) };
}

/** Only an edge from a task that is there can close a cycle through others that are. */
async function graphBehind(
  { store, project }: Import,
  present: ReadonlyMap<string, TaskRead>,
  edges: readonly ListedEdge[],
) {
  if (!edges.some(({ waiting }) => present.has(waiting))) return undefined;
  const ends = new Set(edges.flatMap(({ blocker }) => present.get(blocker)?.state.taskId ?? []));
  return ends.size === 0 ? undefined : reachableEdges(store, project, [...ends]);
}

/** A new sub-task makes its parent wait, which is a write of the parent. */
function judgeParents(
  { list, caller }: Import,
  present: ReadonlyMap<string, TaskRead>,
  surroundings: Surroundings,
  isGood: (record: number) => boolean,
) {
  const parents: ExtendedParent[] = [];
  const refusals: Refusal[] = [];
  const refused = new Map<number, Refused>();
  const children = grouped(
    addedEdges(list, surroundings, isGood).filter(
      ({ ofParent, waiting, blocker }) => ofParent && present.has(waiting) && !present.has(blocker),
    ),
    ({ waiting }) => waiting,
  );
  for (const [key, edges] of children) {
    const read = present.get(key) as TaskRead;
    const decision = decideAddChild(read, caller, IMPORT_GUARD);
    if ('problem' in decision) {
      refusals.push({ state: read.state, record: decision.record });
      for (const { record } of edges) refused.set(record, decision.problem);
    } else parents.push({ state: read.state, events: decision.answer.audit });
  }
  if (refused.size > 0) {
    const without = list.map((task, record) =>
      refused.has(record) || !isGood(record) ? { ...task, flaw: 'not imported' } : task,
    );
    for (const [record, fault] of faultsIn(without, surroundings, new Map()).entries()) {
      if (fault !== undefined && isGood(record) && !refused.has(record)) refused.set(record, fault);
    }
  }
  return { parents, refusals, refused };
}
