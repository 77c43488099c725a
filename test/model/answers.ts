import type { Duration, Timestamp } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { InvalidRequest, WriteRejected } from '@holdfast/client';
import { type Holder, LeaseState, WriteCode } from '@holdfast/proto/guard';
import { type Event, EventKind, LeaseEndCause, ReadyCause } from '@holdfast/proto/history';
import type { Lease } from '@holdfast/proto/lease';
import { type Task, TaskStatus } from '@holdfast/proto/task';
import { type Failure, type Model, type ModelEvent, type ModelLease, type ModelTask, told } from './model.js';

/** Answers of the service and of the model in the same words, so that they can be compared as a whole. */

const instant = (t: Timestamp | undefined) =>
  t ? Number(t.seconds) * 1_000_000 + t.nanos / 1_000 : undefined;
const span = (d: Duration | undefined) => (d ? Number(d.seconds) * 1_000_000 + d.nanos / 1_000 : undefined);
const name = (holder: Holder | undefined) => (holder ? `${holder.principal}/${holder.executionId}` : '');

export const failureOf = (error: unknown): Failure => {
  if (error instanceof WriteRejected) return { error: error.code, holder: name(error.holder) };
  if (error instanceof InvalidRequest) {
    return { error: 'InvalidArgument', field: error.violations[0]?.field ?? '' };
  }
  if (error instanceof ConnectError) return { error: Code[error.code] };
  throw error;
};

export function leaseAnswer(lease: Lease | undefined) {
  if (!lease) return undefined;
  const state = LeaseState[lease.state];
  return {
    id: lease.id,
    taskId: lease.taskId,
    token: Number(lease.fencingToken),
    holder: name(lease.holder),
    state,
    grantedAt: instant(lease.grantedAt),
    expiresAt: instant(lease.expiresAt),
    remaining: span(lease.remaining),
    ttl: state === 'ACTIVE' ? span(lease.ttl) : undefined,
    attempt: lease.attempt,
    endedAt: instant(lease.endedAt),
    endedBy: lease.endedBy,
    endReason: lease.endReason,
  };
}

/** @param reader only the holder is told a lease's id */
export function modelLease(model: Model, lease: ModelLease, reader: 'HOLDER' | 'OTHERS' = 'HOLDER') {
  const lapsed = lease.end === undefined && model.now >= lease.expiresAt;
  const state = lease.end ?? (lapsed ? 'EXPIRED' : 'ACTIVE');
  return {
    id: reader === 'HOLDER' ? lease.id : '',
    taskId: lease.task.id,
    token: lease.token,
    holder: told(lease),
    state,
    grantedAt: lease.grantedAt,
    expiresAt: lease.expiresAt,
    remaining: state === 'ACTIVE' ? lease.expiresAt - model.now : 0,
    ttl: state === 'ACTIVE' ? lease.ttl : undefined,
    attempt: lease.attempt,
    endedAt: lease.endedAt,
    endedBy: lease.endedBy,
    endReason: lease.endReason,
  };
}

export function taskAnswer(task: Task | undefined) {
  if (!task) return undefined;
  return {
    id: task.id,
    key: task.externalKey,
    title: task.title,
    status: TaskStatus[task.status],
    token: Number(task.fencingToken),
    holder: name(task.holder),
    expiresAt: instant(task.leaseExpiresAt),
    attempt: task.attempt,
    expiries: task.expiriesInARow,
    result: task.result,
    closedBy: task.closedBy,
  };
}

export function modelTask(model: Model, task: ModelTask) {
  const live = model.isLive(task);
  return {
    id: task.id,
    key: task.key,
    title: task.title,
    status: task.lease && !live ? 'OPEN' : task.status,
    token: task.token,
    holder: model.holderOf(task),
    expiresAt: live ? task.lease?.expiresAt : undefined,
    attempt: task.attempt,
    expiries: task.expiries,
    result: task.result,
    closedBy: task.closedBy,
  };
}

/** What an event tells, in the words of the model. */
export function eventAnswer(event: Event): ModelEvent {
  return {
    kind: EventKind[event.kind] ?? '?',
    at: instant(event.at) ?? 0,
    actor: event.actor ? `${event.actor}/${event.executionId}` : '',
    token: Number(event.fencingToken),
    told: payloadText(event.payload),
    repeats: event.repeats,
  };
}

function payloadText(payload: Event['payload']): string {
  switch (payload.case) {
    case 'taskReady':
      return ReadyCause[payload.value.cause] ?? '?';
    case 'taskUpdated':
      return payload.value.changes.map(({ field, before, after }) => `${field} ${before} ${after}`).join();
    case 'taskCompleted':
      return payload.value.result;
    case 'taskDropped':
    case 'taskRequeued':
      return payload.value.reason;
    case 'taskReopened':
      return `${payload.value.reason} ${TaskStatus[payload.value.previousStatus]}`;
    case 'taskQuarantined':
      return `${payload.value.expiries}`;
    case 'taskDeleted':
      return `${payload.value.title} ${payload.value.externalKey}`;
    case 'noteAdded':
      return payload.value.text;
    case 'leaseGranted': {
      const { holder, ttl, attempt, previousHolder, previousEnd, previousFencingToken } = payload.value;
      const terms = `${name(holder)} ttl ${span(ttl)} attempt ${attempt}`;
      if (!previousHolder) return terms;
      return `${terms} after ${name(previousHolder)} ${LeaseState[previousEnd]} ${previousFencingToken}`;
    }
    case 'leaseEnded': {
      const { holder, cause, reason, expiriesInARow, lastNote } = payload.value;
      const end = `${name(holder)} ${LeaseEndCause[cause]}`;
      if (cause === LeaseEndCause.EXPIRED) return `${end} #${expiriesInARow} ${lastNote}`;
      return reason ? `${end} ${reason}` : end;
    }
    case 'acquireRefused':
      return `${payload.value.reason} ${name(payload.value.holder)}`;
    case 'guardedWrite': {
      const { rpc, code, holder, proofToken, overrideReason, keptResult } = payload.value;
      const what = [rpc, WriteCode[code], name(holder), proofToken, overrideReason].join(' ');
      return keptResult ? `${what} ${keptResult}` : what;
    }
    default:
      return '';
  }
}
