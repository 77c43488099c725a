import { Enforcement } from '@holdfast/proto/guard';
import type { LeaseService } from '@holdfast/proto/lease';
import { type AcquireAnswer, decideAcquire } from '../domain/acquire.js';
import { rejection } from '../domain/advice.js';
import type { NoteDraft } from '../domain/change.js';
import { judge } from '../domain/guard.js';
import type { Micros } from '../domain/instant.js';
import { currentLeaseOf, endedLeaseOf, type Lease } from '../domain/lease.js';
import { decideForceRelease, decideRelease, decideRenew } from '../domain/lease-end.js';
import { canonicalPrincipal } from '../domain/principal.js';
import { noSuchTask } from '../domain/problem.js';
import { liveLease } from '../domain/task-state.js';
import { endExecution } from '../store/end-execution.js';
import { findLease, listLiveLeases, lostLeases } from '../store/leases.js';
import { mutate } from '../store/mutate.js';
import { listReady } from '../store/queue.js';
import type { QueueFilter } from '../store/queue-list.js';
import { renewExecution } from '../store/renew-execution.js';
import { acquireNextTask } from './acquire-next.js';
import { type Api, type Done, done, doneOrRef, fail, type ServiceFunctions } from './api.js';
import type { Call } from './call.js';
import { leaseMessage, type Reader, rejectionMessage } from './encode/lease.js';
import { unmetMessage } from './encode/task.js';
import { duration, microsOf } from './encode/time.js';
import { grantMessage, refusalMessage, repeatedGrant } from './grant.js';
import { newId, newLeaseId } from './ids.js';
import { cut, pageOf } from './page.js';
import { invalidArgument } from './problems.js';

type Functions = ServiceFunctions<typeof LeaseService.method>;

const MAX_ALTERNATIVES = 3;
const EVERYTHING: QueueFilter = { planId: undefined, labels: [], assignee: undefined };

const spanOf = (message: Parameters<typeof microsOf>[0] | undefined): Micros | undefined =>
  message && microsOf(message);

function noteOf(call: Call, text: string, executionId: string | undefined): NoteDraft | undefined {
  return text === '' ? undefined : { id: newId(), author: call.caller.principal, executionId, text };
}

/** Only its holder, principal and execution, is told a lease's id. */
function readerOf(call: Call, lease: Lease, executionId: string) {
  const { holder } = lease;
  return holder.principal === call.caller.principal && holder.executionId === executionId
    ? 'HOLDER'
    : 'OTHERS';
}

const acquireLease: Functions['acquireLease'] = async (api, call, request) => {
  const leaseId = newLeaseId();
  const { principal } = call.caller;
  const outcome = doneOrRef(
    await mutate(api.store, {
      project: call.project,
      taskId: request.taskId,
      along: { execution: { principal, id: request.executionId } },
      request: call.request,
      decide: (read) =>
        decideAcquire(read, call.caller, read.execution === 'ENDED', {
          executionId: request.executionId,
          ttl: spanOf(request.ttl),
          leaseId,
          unmet: read.unmet,
        }),
    }),
  );
  if (outcome.kind === 'REPEATED')
    return { outcome: await repeatedGrant(api.store, call.project, outcome.ref) };
  const { answer, read, done: applied } = outcome;
  if (answer.kind !== 'GRANTED') {
    const alternatives = await alternativesTo(api, call, request.taskId, answer.kind);
    return { outcome: { case: 'refusal', value: refusalMessage(answer, alternatives) } };
  }
  const state = applied?.state ?? read.state;
  const value = await grantMessage(api.store, call.project, {
    task: read.task,
    state,
    now: applied?.at ?? read.now,
    renewed: answer.renewed,
  });
  return { outcome: { case: 'grant', value } };
};

/** Ready tasks that the caller could take instead; an execution that was ended can take none. */
async function alternativesTo({ store }: Api, call: Call, taskId: string, reason: AcquireAnswer['kind']) {
  if (reason === 'EXECUTION_ENDED') return [];
  const ready = await listReady(store, call.project, EVERYTHING, undefined, MAX_ALTERNATIVES + 1);
  return ready.filter(({ task }) => task.id !== taskId).slice(0, MAX_ALTERNATIVES);
}

const renewLease: Functions['renewLease'] = async ({ store }, call, request) => {
  const { read, done: applied } = done(
    await mutate(store, {
      project: call.project,
      along: { leaseId: request.leaseId },
      decide: (read) =>
        decideRenew(read, read.namedLease, call.caller, {
          fencingToken: request.fencingToken,
          ttl: spanOf(request.ttl),
          note: noteOf(call, request.progress, read.state.lease?.holder.executionId),
        }),
    }),
  );
  const state = applied?.state ?? read.state;
  const lease = currentLeaseOf(state);
  return {
    ...(lease && { lease: leaseMessage(lease, applied?.at ?? read.now, 'HOLDER') }),
    dependenciesUnmet: read.unmet.map(unmetMessage),
  };
};

const renewExecutionLeases: Functions['renewExecution'] = async ({ store }, call, request) => {
  const holder = { principal: call.caller.principal, executionId: request.executionId };
  const renewed = await renewExecution(store, call.project, holder, spanOf(request.ttl));
  const lost = await lostLeases(store, call.project, holder);
  return {
    renewed: renewed.flatMap(({ state, at }) => {
      const lease = state && currentLeaseOf(state);
      return lease ? [leaseMessage(lease, at, 'HOLDER')] : [];
    }),
    lost: lost.leases.map((lease) => leaseMessage(lease, lost.now, 'HOLDER')),
  };
};

/** The lease that a mutation has just ended. */
function endedBy({ read, done }: Pick<Done<unknown>, 'read' | 'done'>, reader: Reader) {
  const end = done?.change.lease;
  const lease = end?.op === 'end' && done ? endedLeaseOf(read.state, end, done.at) : undefined;
  if (!lease || !done) throw new Error('a mutation that ends a lease ended none');
  return leaseMessage(lease, done.at, reader);
}

const releaseLease: Functions['releaseLease'] = async ({ store }, call, request) => {
  const { answer, ...outcome } = done(
    await mutate(store, {
      project: call.project,
      along: { leaseId: request.leaseId },
      decide: (read) =>
        decideRelease(read, read.namedLease, call.caller, {
          fencingToken: request.fencingToken,
          note: noteOf(call, request.note, read.state.lease?.holder.executionId),
        }),
    }),
  );
  if (answer === 'RELEASED') return { lease: endedBy(outcome, 'HOLDER') };
  const found = await findLease(store, call.project, { leaseId: request.leaseId });
  return { ...(found && { lease: leaseMessage(found.lease, found.now, 'HOLDER') }), alreadyEnded: true };
};

const endExecutionAndLeases: Functions['endExecution'] = async ({ store }, call, request) => {
  const { alreadyEnded, leases, now } = await endExecution(
    store,
    call.project,
    call.caller,
    request.executionId,
  );
  return { alreadyEnded, released: leases.map((lease) => leaseMessage(lease, now, 'HOLDER')) };
};

const forceReleaseLease: Functions['forceReleaseLease'] = async ({ store }, call, request) => {
  const outcome = done(
    await mutate(store, {
      project: call.project,
      taskId: request.taskId,
      decide: (read) => decideForceRelease(read, call.caller, request.reason),
    }),
  );
  return { lease: endedBy(outcome, 'OTHERS') };
};

const checkLease: Functions['checkLease'] = async ({ store }, call, request) => {
  const { proof } = request;
  const { found } = await store.read({
    project: call.project,
    taskId: request.taskId,
    leaseId: proof?.leaseId,
  });
  if (!found) fail(noSuchTask(request.taskId));
  const { state, now, settings, namedLease } = found;
  const verdict = judge({ state, now, caller: call.caller, proof, proofLeaseTaskId: namedLease?.taskId });
  if (verdict.kind === 'INVALID') throw invalidArgument(verdict.field, verdict.description);
  const allowed = verdict.kind === 'ALLOWED';
  const lease = liveLease(state, now);
  const live = allowed && proof !== undefined && lease !== undefined;
  return {
    allowed,
    live,
    remaining: duration(live && lease ? lease.expiresAt - now : 0),
    ...(verdict.kind === 'BAD' && { rejection: rejectionMessage(rejection(verdict.code, state, now)) }),
    enforcement: Enforcement[settings.enforcement],
  };
};

const getLease: Functions['getLease'] = async ({ store }, call, request) => {
  const { leaseId, taskId } = request;
  if ((leaseId === '') === (taskId === ''))
    throw invalidArgument('lease_id', 'or task_id must be given, not both');
  const found = await findLease(store, call.project, leaseId ? { leaseId } : { taskId });
  if (!found) {
    fail({
      kind: 'NOT_FOUND',
      message: leaseId
        ? 'There is no such lease in this project.'
        : 'This task never had a lease in this project.',
    });
  }
  const reader = leaseId ? 'HOLDER' : readerOf(call, found.lease, request.executionId);
  return { lease: leaseMessage(found.lease, found.now, reader) };
};

const listLeases: Functions['listLeases'] = async ({ store }, call, request) => {
  const page = pageOf(request, call.project);
  const filter = {
    principal: request.principal ? canonicalPrincipal(request.principal) : undefined,
    executionId: request.executionId || undefined,
  };
  const { now, leases } = await listLiveLeases(store, call.project, filter, page.after ?? '', page.size + 1);
  const { rows, nextPageToken } = cut(page, leases, (lease) => lease.taskId);
  return {
    leases: rows.map((lease) => leaseMessage(lease, now, readerOf(call, lease, request.executionId))),
    nextPageToken,
  };
};

export const leaseFunctions = {
  acquireLease,
  acquireNextTask,
  renewLease,
  renewExecution: renewExecutionLeases,
  releaseLease,
  endExecution: endExecutionAndLeases,
  forceReleaseLease,
  checkLease,
  getLease,
  listLeases,
} satisfies Functions;
