import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  type NoteSchema,
  type TaskSchema,
  TaskStatus,
  type UnmetDependencySchema,
} from '@holdfast/proto/task';
import type { Micros } from '../../domain/instant.js';
import type { UnmetDependency } from '../../domain/neighbours.js';
import type { Task } from '../../domain/task.js';
import { liveLease, statusAt, type TaskState } from '../../domain/task-state.js';
import type { Note } from '../../store/notes.js';
import { timestamp } from './time.js';

/** A task as it is at an instant: status, holder and deadline are judged by one clock and agree. */
export function taskMessage(task: Task, state: TaskState, now: Micros): MessageInitShape<typeof TaskSchema> {
  const lease = liveLease(state, now);
  return {
    id: task.id,
    project: task.project,
    title: task.title,
    body: task.body,
    status: TaskStatus[statusAt(state, now)],
    priority: task.priority,
    labels: [...task.labels],
    planId: task.planId ?? '',
    planOrder: task.planOrder,
    blockedBy: [...task.blockedBy],
    parentId: task.parentId ?? '',
    externalKey: task.externalKey ?? '',
    assignee: task.assignee,
    unmetDependencies: state.unmet,
    fencingToken: state.fencingToken,
    ...(lease && { holder: lease.holder, leaseExpiresAt: timestamp(lease.expiresAt) }),
    attempt: state.attempt,
    expiriesInARow: state.expiriesInARow,
    result: task.result,
    etag: state.contentVersion.toString(),
    createdAt: timestamp(task.createdAt),
    createdBy: task.createdBy,
    updatedAt: timestamp(task.updatedAt),
    ...(task.closedAt !== undefined && { closedAt: timestamp(task.closedAt) }),
    closedBy: task.closedBy ?? '',
  };
}

export function noteMessage(note: Note): MessageInitShape<typeof NoteSchema> {
  return {
    id: note.id,
    author: note.author,
    executionId: note.executionId ?? '',
    text: note.text,
    createdAt: timestamp(note.createdAt),
  };
}

export function unmetMessage(unmet: UnmetDependency): MessageInitShape<typeof UnmetDependencySchema> {
  return {
    taskId: unmet.taskId,
    title: unmet.title,
    status: TaskStatus[unmet.status],
    ...(unmet.holder && { holder: unmet.holder }),
  };
}
