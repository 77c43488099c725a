import {
  type AcquireCall,
  type Failure,
  fail,
  type Model,
  type ModelLease,
  type ModelTask,
  told,
  type Who,
} from './model.js';

export type AcquireOutcome =
  | { readonly granted: ModelLease; readonly renewed: boolean }
  | {
      readonly refused: string;
      readonly holder?: string;
      readonly status?: string;
      readonly lease?: ModelLease;
    }
  | Failure;

/** Acquire, steps 1 to 7 of the contract, and its retries. */
export function acquire(model: Model, call: AcquireCall): AcquireOutcome {
  const { task, who, ttl, requestId } = call;
  const request = `${who.principal} ${requestId}`;
  const body = `${task.id} ${who.execution} ${ttl}`;
  const before = requestId ? model.remembered.get(request) : undefined;
  if (before) {
    if (before.body !== body) return fail('AlreadyExists');
    const { lease } = before;
    const live = lease.task.lease === lease && model.isLive(lease.task);
    return live ? { granted: lease, renewed: false } : { refused: 'LEASE_ENDED', lease };
  }
  if (task.deleted) return fail('NotFound');
  model.settle(task);
  const outcome = decide(model, task, who, ttl);
  if ('granted' in outcome && requestId)
    model.remembered.set(request, { body, call, lease: outcome.granted });
  if ('refused' in outcome) {
    const event = model.event(task, 'ACQUIRE_REFUSED', who, `${outcome.refused} ${outcome.holder ?? ''}`);
    const listed = model.once(task, `ACQUIRE_REFUSED ${who.principal}`, event);
    if (listed) model.tell(task, listed);
  }
  return outcome;
}

function decide(model: Model, task: ModelTask, who: Who, ttl: number): Exclude<AcquireOutcome, Failure> {
  if (model.ended.has(`${who.principal}/${who.execution}`)) return { refused: 'EXECUTION_ENDED' };
  const { lease, status } = task;
  if (status === 'DONE' || status === 'DROPPED' || status === 'QUARANTINED')
    return { refused: 'TASK_CLOSED', status };
  if (lease) {
    if (!model.holds(lease, who)) return { refused: 'HELD', holder: told(lease) };
    model.renew(lease, ttl);
    return { granted: lease, renewed: true };
  }
  const granted = model.grant(task, who, ttl);
  return granted ? { granted, renewed: false } : { refused: 'MAX_AGE_REACHED' };
}

/** Renewing and releasing go by id and token; the principal, not the execution, must be the holder's. */
function named(model: Model, lease: ModelLease, who: Who, token: number): Failure | undefined {
  if (token < 1) return fail('InvalidArgument', { field: 'fencing_token' });
  if (lease.task.deleted) return fail('NotFound');
  model.settle(lease.task);
  if (lease.principal !== who.principal) return fail('NotFound');
  return token === lease.token ? undefined : fail('InvalidArgument', { field: 'fencing_token' });
}

export function renew(
  model: Model,
  lease: ModelLease,
  who: Who,
  token: number,
  { ttl, progress }: { ttl: number; progress: string },
): Failure | undefined {
  const problem = named(model, lease, who, token);
  if (problem) return problem;
  const { task } = lease;
  if (task.lease !== lease) {
    const stale = task.token > lease.token || lease.end === 'REVOKED';
    return fail(stale ? 'STALE_LOCK' : 'LOCK_EXPIRED', { holder: model.holderOf(task) });
  }
  model.renew(lease, ttl);
  if (progress) model.tell(task, model.note(task, { ...who, execution: lease.execution }, progress));
  return undefined;
}

export function release(
  model: Model,
  lease: ModelLease,
  who: Who,
  token: number,
  note: string,
): Failure | { alreadyEnded: boolean } {
  const problem = named(model, lease, who, token);
  if (problem) return problem;
  if (lease.task.lease !== lease) return { alreadyEnded: true };
  model.release(lease.task, { ...who, execution: lease.execution }, 'RELEASED', note);
  return { alreadyEnded: false };
}

const heldBy = (model: Model, who: Who) =>
  [...model.tasks.values()].filter((task) => model.holds(task.lease, who));

const DAY = 24 * 3600 * 1_000_000;

export function renewExecution(
  model: Model,
  who: Who,
  ttl: number,
): { renewed: ModelLease[]; lost: ModelLease[] } {
  const tasks = heldBy(model, who);
  for (const task of tasks) model.settle(task);
  const renewed = tasks.flatMap((task) => task.lease ?? []);
  for (const lease of renewed) model.renew(lease, ttl);
  const lost = model.leases.filter(
    (lease) =>
      model.holds(lease, who) &&
      (lease.end === 'EXPIRED' || lease.end === 'REVOKED') &&
      (lease.endedAt ?? 0) > model.now - DAY &&
      !model.leases.some(
        (later) => later.task === lease.task && later.token > lease.token && model.holds(later, who),
      ),
  );
  return { renewed, lost };
}

export function endExecution(model: Model, who: Who): { alreadyEnded: boolean; released: ModelLease[] } {
  const execution = `${who.principal}/${who.execution}`;
  const alreadyEnded = model.ended.has(execution);
  model.ended.add(execution);
  const tasks = heldBy(model, who);
  for (const task of tasks) model.settle(task);
  const released = tasks.flatMap((task) => task.lease ?? []);
  for (const { task } of released) model.release(task, who, 'EXECUTION_ENDED');
  return { alreadyEnded, released };
}

export function forceRelease(model: Model, task: ModelTask, who: Who, reason: string): Failure | ModelLease {
  if (task.deleted) return fail('NotFound');
  model.settle(task);
  const { lease } = task;
  if (!lease) return fail('FailedPrecondition');
  model.end(task, 'REVOKED', who.principal, 'OPEN', reason);
  model.tell(
    task,
    model.event(task, 'LEASE_REVOKED', who, `${told(lease)} FORCED ${reason}`),
    model.event(task, 'TASK_READY', undefined, 'REVOKED'),
  );
  return lease;
}

export function requeue(model: Model, task: ModelTask, who: Who, reason: string): Failure | undefined {
  if (who.role === 'agent') return fail('PermissionDenied');
  if (task.deleted) return fail('NotFound');
  model.settle(task);
  if (task.status !== 'QUARANTINED') return fail('FailedPrecondition');
  Object.assign(task, { status: 'OPEN', expiries: 0 });
  model.tell(
    task,
    model.event(task, 'TASK_REQUEUED', who, reason),
    model.event(task, 'TASK_READY', undefined, 'REQUEUED'),
  );
  return undefined;
}
