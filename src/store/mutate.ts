import { setTimeout as sleep } from 'node:timers/promises';
import type { Change } from '../domain/change.js';
import type { Decision } from '../domain/decision.js';
import { decideExpiry } from '../domain/lease-end.js';
import { noSuchLease, noSuchTask, type Problem } from '../domain/problem.js';
import { lapsedLease } from '../domain/task-state.js';
import type { Applied, ApplyResult } from './apply.js';
import type { ChangeItem } from './change-item.js';
import { Contention, faultOf } from './database-error.js';
import { recordEvent } from './events.js';
import { ensureExecution } from './executions.js';
import { lastNote } from './notes.js';
import type { ReadAlong, TaskRead } from './read-task.js';
import type { RememberedRequest, RequestKey } from './requests.js';
import type { Store } from './store.js';

/** How a mutation ended. */
export type Outcome<Answer> =
  /** As decided, and applied if there was something to change. */
  | { readonly kind: 'DONE'; readonly answer: Answer; readonly read: TaskRead; readonly done?: AppliedChange }
  /** This request was applied before: `ref` names what came of it. */
  | { readonly kind: 'REPEATED'; readonly request: RememberedRequest }
  | { readonly kind: 'PROBLEM'; readonly problem: Problem };

/** A change, and the row after it. */
interface AppliedChange extends Applied {
  readonly change: Change;
}

export interface Mutation<Answer, Facts = undefined> {
  readonly project: string;
  /** Absent: the task of the lease that `along` names. */
  readonly taskId?: string;
  readonly along?: ReadAlong;
  /** Remembered together with what it made, when the decision says what that is. */
  readonly request?: RequestKey | undefined;
  /** Further reads that the decision needs, after the task's own. */
  readonly gather?: (read: TaskRead) => Promise<Facts>;
  /** The rules: pure, and called again with fresh reads whenever somebody else was faster. */
  decide(read: TaskRead, facts: Facts): Decision<Answer>;
}

const MAX_TRIES = 8;

/**
 * Every mutation of one task: read without a lock, decide by a pure function, apply if nothing that the
 * decision relied on has changed; else again. A lapsed lease met on the way is settled first, in a commit
 * of its own, so that it stays recorded even if the rest is refused.
 *
 * @throws Contention when others were faster every time; nothing was done.
 */
export async function mutate<Answer, Facts = undefined>(
  store: Store,
  mutation: Mutation<Answer, Facts>,
): Promise<Outcome<Answer>> {
  const { project, taskId, request } = mutation;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    if (tries > 0) await sleep(Math.random() * 2 ** tries);

    const { found, request: remembered } = await store.read({ project, taskId, ...mutation.along, request });
    if (remembered) return { kind: 'REPEATED', request: remembered };
    if (!found) {
      return { kind: 'PROBLEM', problem: taskId === undefined ? noSuchLease() : noSuchTask(taskId) };
    }
    if (lapsedLease(found.state, found.now)) {
      await settle(store, project, found);
      continue;
    }

    const facts = (await mutation.gather?.(found)) as Facts;
    const decision = mutation.decide(found, facts);
    if (decision.record)
      await recordEvent(store, project, found.state.taskId, found.state.fencingToken, decision.record);
    if ('problem' in decision) return { kind: 'PROBLEM', problem: decision.problem };
    if (!decision.change) return { kind: 'DONE', answer: decision.answer, read: found };

    const { change, also, ref } = decision;
    if (change.requiresExecution && found.execution === 'UNKNOWN') {
      await ensureExecution(store, project, change.requiresExecution);
    }
    const remember = request && ref !== undefined ? { ...request, ref } : undefined;
    const applied = await tryApply(store, { project, change, also, request: remember });
    if (applied) {
      return { kind: 'DONE', answer: decision.answer, read: found, done: { ...applied, change } };
    }
  }
  throw new Contention();
}

/**
 * Applies a change if it still holds: at first together with others and without waiting for a lock, then, if
 * the row is busy, on its own and waiting.
 *
 * @returns undefined when it was overtaken
 * @throws Contention when a lock was not to be had in time
 */
async function tryApply(store: Store, item: ChangeItem): Promise<Applied | undefined> {
  const soon = propagates(item) ? BUSY : await store.applySoon(item);
  const [result] = soon.kind === 'BUSY' ? await applyWaiting(store, [item]) : [soon];
  return result?.kind === 'APPLIED' ? told(store, item, result) : undefined;
}

/**
 * Applies changes in one statement, waiting for the rows that others have locked.
 *
 * @returns the applied ones; the others were overtaken, or all were thrown back by a duplicate or a deadlock
 * @throws Contention when a lock was not to be had in time
 */
export async function applyAll(store: Store, items: readonly ChangeItem[]): Promise<Applied[]> {
  const results = await applyWaiting(store, items);
  return results.flatMap((result, i) => {
    const item = items[i];
    return item && result.kind === 'APPLIED' ? [told(store, item, result)] : [];
  });
}

const BUSY: ApplyResult = { kind: 'BUSY' };

/** Such a change locks all who wait for its task: it goes alone. */
const propagates = ({ change }: ChangeItem) => change.propagates || change.remove !== undefined;

async function applyWaiting(store: Store, items: readonly ChangeItem[]): Promise<ApplyResult[]> {
  try {
    return await store.applyWaiting(items);
  } catch (error) {
    const fault = faultOf(error);
    if (fault === 'TIMED_OUT') throw new Contention();
    if (fault === 'CONTENDED' || fault === 'DUPLICATE') return [];
    throw error;
  }
}

/** Tells what runs beside the requests of a commit, and passes it on. */
export function told(store: Store, { project, change }: ChangeItem, applied: Applied): Applied {
  if (change.events.length > 0) store.commits.eventsWritten(change.events);
  if (applied.readied.length > 0 || change.events.some(({ kind }) => kind === 'TASK_READY')) {
    store.commits.tasksReady(project);
  }
  const lease = applied.state?.lease;
  const renewed = change.lease?.op === 'renew' ? { project, taskId: change.taskId } : undefined;
  if (lease) store.commits.deadlineSet(lease.expiresAt - applied.at, renewed);
  return applied;
}

/**
 * Records that a lapsed lease expired, unless somebody else just did.
 *
 * @param locked whether to wait for a row that somebody has locked; a sweep must not wait behind one
 */
export async function settle(
  store: Store,
  project: string,
  read: Pick<TaskRead, 'state' | 'now' | 'settings'>,
  locked: 'wait' | 'skip' = 'wait',
): Promise<boolean> {
  const lapsed = lapsedLease(read.state, read.now);
  if (!lapsed) return false;
  const note = read.state.noteCount > 0 ? await lastNote(store, project, read.state.taskId) : undefined;
  const item = { project, change: decideExpiry(read, lapsed, note) };
  if (locked === 'wait') return (await tryApply(store, item)) !== undefined;
  const result = await store.applySoon(item);
  if (result.kind === 'APPLIED') told(store, item, result);
  return result.kind === 'APPLIED';
}
