import type { MessageInitShape } from '@bufbuild/protobuf';
import { LeaseState } from '@holdfast/proto/guard';
import { type GrantSchema, RefusalReason, type RefusalSchema } from '@holdfast/proto/lease';
import { TaskStatus } from '@holdfast/proto/task';
import type { AcquireAnswer } from '../domain/acquire.js';
import { retryAfter } from '../domain/advice.js';
import { describeSpan, type Micros } from '../domain/instant.js';
import { currentLeaseOf, type Lease, leaseEndAt } from '../domain/lease.js';
import type { Task } from '../domain/task.js';
import { liveLease, type TaskState } from '../domain/task-state.js';
import { findLease } from '../store/leases.js';
import { newestNotes } from '../store/notes.js';
import { dependencyResults } from '../store/queue.js';
import type { Store } from '../store/store.js';
import { findTask, type TaskWithState } from '../store/tasks.js';
import { leaseMessage } from './encode/lease.js';
import { noteMessage, taskMessage, unmetMessage } from './encode/task.js';
import { duration, timestamp } from './encode/time.js';
import { messageOf } from './guarded-write.js';

type GrantMessage = MessageInitShape<typeof GrantSchema>;
type RefusalMessage = MessageInitShape<typeof RefusalSchema>;

/** How much of the notes, and of the results, goes with a grant: enough to go on, not enough to drown in. */
const CONTINUATION_BYTES = 8 * 1024;
const CONTINUATION_NOTES = 20;
const MAX_RESULTS = 50;

/** A grant's answer, with what earlier holders left. Notes are read after the grant, so none is missed. */
export async function grantMessage(
  store: Store,
  project: string,
  { task, state, now, renewed }: { task: Task; state: TaskState; now: Micros; renewed: boolean },
): Promise<GrantMessage> {
  const lease = currentLeaseOf(state);
  if (!lease) throw new Error('a grant without a lease');
  const notes = state.noteCount > 0 ? await newestNotes(store, project, task.id, CONTINUATION_NOTES) : [];
  const results = state.blockers > 0 ? await dependencyResults(store, project, task.id, MAX_RESULTS) : [];
  const { previous } = state;
  return {
    lease: leaseMessage(lease, now, 'HOLDER'),
    renewed,
    task: taskMessage(task, state, now),
    continuation: {
      attempt: state.attempt,
      ...(previous && {
        previousHolder: previous.holder,
        previousEnd: LeaseState[previous.end],
        previousEndedAt: timestamp(previous.endedAt),
      }),
      notes: withinBudget(notes, 'text').map(({ entry }) => noteMessage(entry)),
      dependencyResults: withinBudget(results, 'result').map(({ entry, cut }) => ({
        ...entry,
        truncated: cut,
      })),
    },
  };
}

/** As many entries as fit into the continuation, the last one perhaps cut. */
function withinBudget<Field extends string, Entry extends { readonly [F in Field]: string }>(
  entries: readonly Entry[],
  field: Field,
): { entry: Entry; cut: boolean }[] {
  let left = CONTINUATION_BYTES;
  return entries.flatMap((entry) => {
    if (left <= 0) return [];
    const text = cutBytes(entry[field], left);
    left -= Buffer.byteLength(text);
    return [{ entry: { ...entry, [field]: text }, cut: text !== entry[field] }];
  });
}

/** A text's beginning that fits, never ending inside a character. */
function cutBytes(text: string, max: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= max) return text;
  return `${new TextDecoder('utf-8', { fatal: false }).decode(bytes.subarray(0, Math.max(0, max - 4))).replace(/\uFFFD$/, '')}…`;
}

/** A refusal, with what the caller could do instead. */
export function refusalMessage(
  answer: Exclude<AcquireAnswer, { kind: 'GRANTED' }>,
  alternatives: readonly TaskWithState[],
): RefusalMessage {
  return Object.assign(reasonMessage(answer), { alternatives: alternatives.map(messageOf) });
}

function reasonMessage(answer: Exclude<AcquireAnswer, { kind: 'GRANTED' }>): RefusalMessage {
  switch (answer.kind) {
    case 'HELD': {
      const { holder, expiresAt } = answer.lease;
      return {
        reason: RefusalReason.HELD,
        holder,
        expiresAt: timestamp(expiresAt),
        retryAfter: duration(retryAfter(answer.remaining, Math.random())),
        advice:
          `${holder.principal} (${holder.executionId}) holds this task for another ` +
          `${describeSpan(answer.remaining)} unless it renews. Take another task, or ask again after retry_after.`,
      };
    }
    case 'TASK_CLOSED':
      return {
        reason: RefusalReason.TASK_CLOSED,
        taskStatus: TaskStatus[answer.status],
        advice:
          answer.status === 'QUARANTINED'
            ? 'Its leases expired too often in a row. A person must look at it and requeue it; take another task.'
            : `This task is ${answer.status}. Take another task, or reopen it if there is more to do.`,
      };
    case 'DEPENDENCIES_UNMET':
      return {
        reason: RefusalReason.DEPENDENCIES_UNMET,
        unmetDependencies: answer.unmet.map(unmetMessage),
        advice: 'This task waits for others. Take one of those, or another task.',
      };
    case 'EXECUTION_ENDED':
      return {
        reason: RefusalReason.EXECUTION_ENDED,
        advice:
          'This execution was ended and acquires nothing more. Start a new one with a new execution_id.',
      };
    case 'MAX_AGE_REACHED':
      return {
        reason: RefusalReason.MAX_AGE_REACHED,
        advice:
          'This execution has held the task for as long as one may. Leave it to another, or start a new execution.',
      };
  }
}

/** The answer to a repeated request whose lease is over: how it ended, and never a second task. */
function endedRefusal(lease: Lease, now: Micros): RefusalMessage {
  const end = leaseEndAt(lease, now);
  return {
    reason: RefusalReason.LEASE_ENDED,
    endedLease: leaseMessage(lease, now, 'HOLDER'),
    advice:
      `This request was granted before, as token ${lease.fencingToken}, and that lease is over (${end}). ` +
      'Send a new request_id to acquire again.',
  };
}

/** A replayed grant, rebuilt from its lease as it is now. */
export async function repeatedGrant(store: Store, project: string, leaseId: string) {
  const found = await findLease(store, project, { leaseId });
  if (!found) throw new Error('a remembered grant has no lease');
  const current = await findTask(store, project, { taskId: found.lease.taskId });
  const live = current && liveLease(current.state, current.now);
  if (current && live?.id === leaseId) {
    const value = await grantMessage(store, project, { ...current, renewed: false });
    return { case: 'grant' as const, value };
  }
  // Read after the task, so that a lease that has just ended is told with its end.
  const ended = (await findLease(store, project, { leaseId })) ?? found;
  return { case: 'refusal' as const, value: endedRefusal(ended.lease, ended.now) };
}
