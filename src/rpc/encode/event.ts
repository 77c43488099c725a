import type { MessageInitShape } from '@bufbuild/protobuf';
import { LeaseState, WriteCode } from '@holdfast/proto/guard';
import {
  EventKind,
  type EventSchema,
  LeaseEndCause,
  PrincipalKind,
  ReadyCause,
} from '@holdfast/proto/history';
import { TaskStatus } from '@holdfast/proto/task';
import type { HistoryEvent } from '../../store/history.js';
import { duration, timestamp } from './time.js';

type EventMessage = MessageInitShape<typeof EventSchema>;

export function eventMessage(event: HistoryEvent): EventMessage {
  return {
    position: event.position,
    kind: EventKind[event.kind],
    at: timestamp(event.at),
    project: event.project,
    taskId: event.taskId ?? '',
    actor: event.actor ?? '',
    actorKind: event.actorKind ? PrincipalKind[event.actorKind] : PrincipalKind.UNSPECIFIED,
    executionId: event.executionId ?? '',
    fencingToken: event.fencingToken ?? 0n,
    repeats: event.repeats,
    payload: payloadMessage(event),
  };
}

function payloadMessage(event: HistoryEvent): NonNullable<EventMessage['payload']> {
  switch (event.kind) {
    case 'TASK_CREATED': {
      const { status, labels, blockedBy, ...rest } = event.payload;
      return {
        case: 'taskCreated',
        value: { ...rest, status: TaskStatus[status], labels: [...labels], blockedBy: [...blockedBy] },
      };
    }
    case 'TASK_UPDATED':
      return { case: 'taskUpdated', value: { changes: [...event.payload.changes] } };
    case 'TASK_READY':
      return { case: 'taskReady', value: { cause: ReadyCause[event.payload.cause] } };
    case 'TASK_COMPLETED':
      return { case: 'taskCompleted', value: event.payload };
    case 'TASK_DROPPED':
      return {
        case: 'taskDropped',
        value: { reason: event.payload.reason, stillBlocked: [...event.payload.stillBlocked] },
      };
    case 'TASK_REOPENED':
      return {
        case: 'taskReopened',
        value: {
          reason: event.payload.reason,
          previousStatus: TaskStatus[event.payload.previousStatus],
          blockedAgain: [...event.payload.blockedAgain],
        },
      };
    case 'TASK_QUARANTINED':
      return { case: 'taskQuarantined', value: event.payload };
    case 'TASK_REQUEUED':
      return { case: 'taskRequeued', value: event.payload };
    case 'TASK_DELETED':
      return { case: 'taskDeleted', value: { ...event.payload, detached: [...event.payload.detached] } };
    case 'NOTE_ADDED':
      return { case: 'noteAdded', value: event.payload };
    case 'DEPENDENCY_ADDED':
    case 'DEPENDENCY_REMOVED':
      return { case: 'dependency', value: event.payload };
    case 'PLAN_CREATED':
    case 'PLAN_UPDATED':
      return { case: 'plan', value: { ...event.payload, changes: [...event.payload.changes] } };
    case 'LEASE_ACQUIRED':
    case 'LEASE_TAKEN_OVER': {
      const { holder, expiresAt, ttl, attempt, previousHolder, previousEnd, previousFencingToken } =
        event.payload;
      return {
        case: 'leaseGranted',
        value: {
          holder,
          ...(expiresAt !== undefined && { expiresAt: timestamp(expiresAt) }),
          ttl: duration(ttl),
          attempt,
          ...(previousHolder && { previousHolder }),
          ...(previousEnd && { previousEnd: LeaseState[previousEnd] }),
          ...(previousFencingToken && { previousFencingToken: BigInt(previousFencingToken) }),
        },
      };
    }
    case 'LEASE_RELEASED':
    case 'LEASE_EXPIRED':
    case 'LEASE_REVOKED': {
      const { cause, expiresAt, ...rest } = event.payload;
      return {
        case: 'leaseEnded',
        value: { ...rest, cause: LeaseEndCause[cause], expiresAt: timestamp(expiresAt) },
      };
    }
    case 'ACQUIRE_REFUSED':
      return { case: 'acquireRefused', value: event.payload };
    case 'WRITE_WARNED':
    case 'WRITE_REJECTED':
    case 'WRITE_OVERRIDDEN': {
      const { code, proofToken, ...rest } = event.payload;
      return {
        case: 'guardedWrite',
        value: { ...rest, code: WriteCode[code], ...(proofToken && { proofToken: BigInt(proofToken) }) },
      };
    }
    case 'EXECUTION_ENDED':
      return { case: 'executionEnded', value: event.payload };
    case 'PROJECT_CREATED':
    case 'SETTINGS_CHANGED':
      return { case: 'projectChanged', value: { ...event.payload, changes: [...event.payload.changes] } };
    case 'WEBHOOK_CREATED':
    case 'WEBHOOK_DELETED':
    case 'WEBHOOK_FAILED':
      return { case: 'webhook', value: event.payload };
    case 'TOKEN_CREATED':
    case 'TOKEN_REVOKED': {
      const { kind, ...rest } = event.payload;
      return { case: 'token', value: { ...rest, kind: PrincipalKind[kind] } };
    }
  }
}
