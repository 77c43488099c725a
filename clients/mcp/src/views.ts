import { type Holder, LeaseState } from '@holdfast/proto/guard';
import { type Event, EventKind } from '@holdfast/proto/history';
import type { Continuation, Lease } from '@holdfast/proto/lease';
import { type Note, type Task, TaskStatus, type UnmetDependency } from '@holdfast/proto/task';
import { cut } from './cut.js';
import { instant } from './time.js';

// What answers tell of tasks and leases. Fields that say nothing are left out: an answer is read by a model.

/** A task in a list: enough to choose by. Ten of them stay below 1.5 KB. */
export function brief({ id, title, priority }: Task) {
  return { id, title: cut(title, 60), ...(priority !== 0 && { priority }) };
}

/** Where a task's text is cut, in bytes, unless all is asked for. */
const BODY_BYTES = 2_000;
const NOTE_BYTES = 500;

/** A task to work on or look at. */
export function taskView(task: Task, detail = false) {
  const text = (value: string) => (detail ? value : cut(value, BODY_BYTES));
  return withoutNothing({
    id: task.id,
    title: task.title,
    body: text(task.body),
    status: TaskStatus[task.status],
    priority: task.priority,
    labels: task.labels,
    plan_id: task.planId,
    parent_id: task.parentId,
    blocked_by: task.blockedBy,
    assignee: task.assignee,
    holder: task.holder && holderView(task.holder),
    lease_expires_at: instant(task.leaseExpiresAt),
    result: text(task.result),
    ...(detail && {
      external_key: task.externalKey,
      fencing_token: String(task.fencingToken),
      attempt: task.attempt,
      expiries_in_a_row: task.expiriesInARow,
      etag: task.etag,
      created_by: task.createdBy,
      created_at: instant(task.createdAt),
      updated_at: instant(task.updatedAt),
      closed_by: task.closedBy,
      closed_at: instant(task.closedAt),
    }),
  });
}

/** A task to work on: all that was written about it. */
export function workView(task: Task) {
  return withoutNothing({ ...taskView(task), body: task.body });
}

export function holderView({ principal, executionId }: Holder): string {
  return `${principal} (${executionId})`;
}

export function leaseView(lease: Lease) {
  return {
    lease_id: lease.id,
    fencing_token: String(lease.fencingToken),
    expires_at: instant(lease.expiresAt),
  };
}

export function noteView({ author, text, createdAt }: Note, detail = false) {
  return { author, at: instant(createdAt), text: detail ? text : cut(text, NOTE_BYTES) };
}

export function unmetView({ taskId, title, status, holder }: UnmetDependency) {
  return withoutNothing({
    id: taskId,
    title: cut(title, 60),
    status: TaskStatus[status],
    holder: holder && holderView(holder),
  });
}

/** What earlier holders left; the server bounds it. */
export function continuationView(continuation: Continuation) {
  const { attempt, previousHolder, previousEnd, previousEndedAt, notes, dependencyResults } = continuation;
  return withoutNothing({
    attempt,
    previous_holder: previousHolder && holderView(previousHolder),
    previous_end: previousHolder && LeaseState[previousEnd],
    previous_ended_at: instant(previousEndedAt),
    notes: notes.map((note) => noteView(note, true)),
    dependency_results: dependencyResults.map(({ taskId, title, result, truncated }) =>
      withoutNothing({ id: taskId, title: cut(title, 60), result, truncated }),
    ),
  });
}

/** An event as agents are told it. */
export function eventView({ kind, at, actor, executionId, payload }: Event) {
  return withoutNothing({
    kind: EventKind[kind],
    at: instant(at),
    actor,
    execution_id: executionId,
    ...(payload.case === 'noteAdded' && { text: payload.value.text }),
  });
}

/** Leaves out what is empty, zero, false or absent. */
export function withoutNothing<Value extends Record<string, unknown>>(value: Value): Partial<Value> {
  return Object.fromEntries(
    Object.entries(value).filter(([, part]) => (Array.isArray(part) ? part.length > 0 : Boolean(part))),
  ) as Partial<Value>;
}
