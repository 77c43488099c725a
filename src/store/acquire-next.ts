import { decideAcquire } from '../domain/acquire.js';
import type { Micros } from '../domain/instant.js';
import type { Caller } from '../domain/principal.js';
import { lapsedLease } from '../domain/task-state.js';
import { type Applied, apply } from './apply.js';
import type { ChangeItem } from './change-item.js';
import { Contention, isThrownBack } from './database-error.js';
import { ensureExecution } from './executions.js';
import { settle, told } from './mutate.js';
import { findCandidates } from './queue.js';
import type { QueueFilter } from './queue-list.js';
import type { TaskRead } from './read-task.js';
import type { RememberedRequest, RequestKey } from './requests.js';
import type { Store } from './store.js';

/** One call for the best ready task. */
export interface NextRequest {
  /** With its execution. */
  readonly caller: Caller & { readonly executionId: string };
  readonly ttl: Micros | undefined;
  readonly leaseId: string;
  readonly request: RequestKey | undefined;
}

export type NextResult =
  | { readonly kind: 'GRANTED'; readonly read: TaskRead; readonly applied: Applied }
  | { readonly kind: 'REPEATED'; readonly request: RememberedRequest }
  | { readonly kind: 'EXECUTION_ENDED' }
  | { readonly kind: 'NOTHING_READY' }
  /** This call could not be served; others of the same round may have been. */
  | { readonly kind: 'FAILED'; readonly error: unknown };

/** Beyond the calls, so that some may be taken by others without another round. */
const SPARE = 4;
const MAX_ROUNDS = 12;

/**
 * Grants the best ready tasks to several calls with the same filter, the best to the first. Lapsed leases are
 * settled before. Calls of one process never reach for the same task, since they are served together; those of
 * several replicas may, and then the versions let one through and the other takes the next candidate.
 *
 * @returns a result for each call, in their order: what was granted to one is told, whatever befalls another.
 *   FAILED with a Contention when others were faster in every round
 */
export async function grantNext(
  store: Store,
  project: string,
  filter: QueueFilter,
  calls: readonly NextRequest[],
): Promise<NextResult[]> {
  const results = new Map<NextRequest, NextResult>();
  const tooOld = new Map<NextRequest, Set<string>>(calls.map((call) => [call, new Set()]));
  // Tried in vain: tried again only when there is nothing else, or one that stays locked would hold up everybody.
  const missed = new Map<NextRequest, Set<string>>(calls.map((call) => [call, new Set()]));
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const open = calls.filter((call) => !results.has(call));
    if (open.length === 0) break;
    const avoided = open.reduce(
      (most, call) => Math.max(most, (tooOld.get(call)?.size ?? 0) + (missed.get(call)?.size ?? 0)),
      0,
    );
    let ready: readonly string[];
    try {
      const found = await findCandidates(store, project, filter, open.length + SPARE + avoided);
      if (found.lapsed.length > 0 && (await settleAll(store, project, found.lapsed))) continue;
      ready = found.ready;
    } catch (error) {
      for (const call of open) results.set(call, { kind: 'FAILED', error });
      break;
    }

    const taken = new Set<string>();
    const pairs = open.map((call) => {
      const free = ready.filter((id) => !taken.has(id) && !tooOld.get(call)?.has(id));
      const taskId = free.find((id) => !missed.get(call)?.has(id)) ?? free[0];
      if (taskId !== undefined) taken.add(taskId);
      return { call, taskId };
    });
    await Promise.all(
      pairs.map(async ({ call, taskId }) => {
        const result = await grantOne(store, project, call, taskId).catch(
          (error: unknown): NextResult => ({ kind: 'FAILED', error }),
        );
        if (result === 'TOO_OLD' && taskId !== undefined) tooOld.get(call)?.add(taskId);
        if (result === 'MISSED' && taskId !== undefined) missed.get(call)?.add(taskId);
        if (typeof result === 'object') results.set(call, result);
      }),
    );
  }
  return calls.map((call) => results.get(call) ?? { kind: 'FAILED', error: new Contention() });
}

/** Answers whether any was recorded: then the candidates are others. */
async function settleAll(store: Store, project: string, taskIds: readonly string[]): Promise<boolean> {
  const settled = await Promise.all(
    taskIds.map(async (taskId) => {
      const { found } = await store.read({ project, taskId });
      return found !== undefined && settle(store, project, found, 'skip');
    }),
  );
  return settled.some((recorded) => recorded);
}

/** Tries one candidate. `MISSED`: somebody else was faster; `TOO_OLD`: this execution has had it long enough. */
async function grantOne(
  store: Store,
  project: string,
  { caller, ttl, leaseId, request }: NextRequest,
  taskId: string | undefined,
): Promise<NextResult | 'MISSED' | 'TOO_OLD'> {
  const holder = { principal: caller.principal, executionId: caller.executionId };
  const execution = { principal: holder.principal, id: holder.executionId };
  const {
    found,
    execution: known,
    request: remembered,
  } = await store.read({ project, taskId, execution, request });
  if (remembered) return { kind: 'REPEATED', request: remembered };
  if (known === 'ENDED') return { kind: 'EXECUTION_ENDED' };
  if (taskId === undefined) return { kind: 'NOTHING_READY' };
  if (!found || lapsedLease(found.state, found.now)) return 'MISSED';

  const decision = decideAcquire(found, caller, false, { executionId: holder.executionId, ttl, leaseId });
  if ('problem' in decision || decision.answer.kind !== 'GRANTED' || !decision.change) {
    return 'answer' in decision && decision.answer.kind === 'MAX_AGE_REACHED' ? 'TOO_OLD' : 'MISSED';
  }
  // Held by this very execution already: not a next task.
  if (decision.answer.renewed) return 'MISSED';
  if (known === 'UNKNOWN') await ensureExecution(store, project, holder);
  const item: ChangeItem = {
    project,
    change: decision.change,
    request: request && { ...request, ref: leaseId },
  };
  const applied = await applyWithoutWaiting(store, item);
  return applied ? { kind: 'GRANTED', read: found, applied: told(store, item, applied) } : 'MISSED';
}

/** A row that somebody else has locked is left to them. */
async function applyWithoutWaiting(store: Store, item: ChangeItem): Promise<Applied | undefined> {
  const soon = await store.applySoon(item);
  if (soon.kind === 'APPLIED') return soon;
  if (soon.kind === 'OVERTAKEN' || !item.request) return undefined;
  // Perhaps not the row, but another item threw the batch back.
  try {
    const [alone] = await apply(store.database.sql, [item], 'skip');
    return alone?.kind === 'APPLIED' ? alone : undefined;
  } catch (error) {
    if (isThrownBack(error)) return undefined;
    throw error;
  }
}
