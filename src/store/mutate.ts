import { setTimeout as sleep } from 'node:timers/promises';
import type { Change } from '../domain/change.js';
import type { Decision } from '../domain/decision.js';
import { decideExpiry } from '../domain/lease-end.js';
import { noSuchLease, noSuchTask, type Problem } from '../domain/problem.js';
import { lapsedLease } from '../domain/task-state.js';
import { type Applied, type ApplyOptions, apply } from './apply.js';
import { Contention, faultOf } from './database-error.js';
import { recordEvent } from './events.js';
import { ensureExecution } from './executions.js';
import { lastNote } from './notes.js';
import { type ReadAlong, readTask, type TaskRead } from './read-task.js';
import type { RememberedRequest, RequestKey } from './requests.js';
import type { Store } from './store.js';

/** How a mutation ended. */
export type Outcome<Answer> =
  /** As decided; `applied` tells the row after the change, when there was one. */
  | { readonly kind: 'DONE'; readonly answer: Answer; readonly read: TaskRead; readonly applied?: Applied }
  /** This request was applied before: `ref` names what came of it. */
  | { readonly kind: 'REPEATED'; readonly request: RememberedRequest }
  | { readonly kind: 'PROBLEM'; readonly problem: Problem };

export interface Mutation<Answer> {
  readonly project: string;
  /** Absent: the task of the lease that `along` names. */
  readonly taskId?: string;
  readonly along?: ReadAlong;
  /** Remembered together with what it made, when the decision says what that is. */
  readonly request?: RequestKey | undefined;
  /** The rules: pure, and called again with a fresh read whenever somebody else was faster. */
  decide(read: TaskRead): Decision<Answer>;
}

const MAX_TRIES = 8;

/**
 * Every mutation of one task: read without a lock, decide by a pure function, apply if nothing that the
 * decision relied on has changed; else again. A lapsed lease met on the way is settled first, in a commit
 * of its own, so that it stays recorded even if the rest is refused.
 *
 * @throws Contention when others were faster every time; nothing was done.
 */
export async function mutate<Answer>(store: Store, mutation: Mutation<Answer>): Promise<Outcome<Answer>> {
  const { project, taskId, request } = mutation;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    if (tries > 0) await sleep(Math.random() * 2 ** tries);

    const { found, request: remembered } = await readTask(store, project, taskId, {
      ...mutation.along,
      request,
    });
    if (remembered) return { kind: 'REPEATED', request: remembered };
    if (!found) {
      return { kind: 'PROBLEM', problem: taskId === undefined ? noSuchLease() : noSuchTask(taskId) };
    }
    if (lapsedLease(found.state, found.now)) {
      await settle(store, project, found);
      continue;
    }

    const decision = mutation.decide(found);
    if (decision.record)
      await recordEvent(store, project, found.state.taskId, found.state.fencingToken, decision.record);
    if ('problem' in decision) return { kind: 'PROBLEM', problem: decision.problem };
    if (!decision.change) return { kind: 'DONE', answer: decision.answer, read: found };

    const { change, ref } = decision;
    if (change.requiresExecution && found.execution === 'UNKNOWN') {
      await ensureExecution(store, project, change.requiresExecution);
    }
    const remember = request && ref !== undefined ? { request: { ...request, ref } } : {};
    const [applied] = await tryApply(store, project, [change], remember);
    if (applied) return { kind: 'DONE', answer: decision.answer, read: found, applied };
  }
  throw new Contention();
}

/**
 * Applies changes if they still hold. Applied are those in the answer; a statement that others' locks or
 * a concurrent duplicate threw back counts as nothing applied.
 *
 * @throws Contention when a lock was not to be had in time.
 */
export async function tryApply(
  store: Store,
  project: string,
  changes: readonly Change[],
  options?: ApplyOptions,
): Promise<Applied[]> {
  let applied: Applied[];
  try {
    applied = await apply(store.database.sql, project, changes, options);
  } catch (error) {
    const fault = faultOf(error);
    if (fault === 'TIMED_OUT') throw new Contention();
    if (fault === 'CONTENDED' || fault === 'DUPLICATE') return [];
    throw error;
  }
  if (applied.length > 0) store.commits.eventsWritten();
  for (const { state, at } of applied) {
    if (state?.lease) store.commits.deadlineSet(state.lease.expiresAt - at);
  }
  return applied;
}

/** Records that a lapsed lease expired, unless somebody else just did. */
export async function settle(
  store: Store,
  project: string,
  read: Pick<TaskRead, 'state' | 'now' | 'settings'>,
  options?: ApplyOptions,
): Promise<boolean> {
  const lapsed = lapsedLease(read.state, read.now);
  if (!lapsed) return false;
  const note = read.state.noteCount > 0 ? await lastNote(store, project, read.state.taskId) : undefined;
  const applied = await tryApply(store, project, [decideExpiry(read, lapsed, note)], options);
  return applied.length > 0;
}
