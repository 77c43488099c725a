import type { Decision } from '../domain/decision.js';
import { noSuchTask } from '../domain/problem.js';
import { taskAfter } from '../domain/task.js';
import type { GuardedRequest } from '../domain/write.js';
import { mutate } from '../store/mutate.js';
import type { ReadAlong, TaskRead } from '../store/read-task.js';
import { findTask, type TaskWithState } from '../store/tasks.js';
import { type Api, type Done, fail } from './api.js';
import type { Call } from './call.js';
import { taskMessage } from './encode/task.js';
import { invalidArgument } from './problems.js';

/** What every guarded write request has. */
export interface GuardedMessage {
  readonly taskId: string;
  readonly executionId: string;
  readonly overrideReason: string;
  readonly proof?: { readonly leaseId: string; readonly fencingToken: bigint } | undefined;
}

/** Runs one guarded write: all of them read the same things and differ only in what they decide. */
export async function write<Answer, Facts = undefined>(
  { store }: Api,
  call: Call,
  rpc: string,
  message: GuardedMessage,
  along: ReadAlong & { gather?: (read: TaskRead) => Promise<Facts> },
  decide: (read: TaskRead, guard: GuardedRequest, facts: Facts) => Decision<Answer>,
) {
  const { gather, ...reads } = along;
  const guard = guardOf(rpc, message);
  return mutate<Answer, Facts>(store, {
    project: call.project,
    taskId: message.taskId,
    along: { ...reads, leaseId: message.proof?.leaseId },
    request: call.request,
    ...(gather && { gather }),
    decide: (read, facts) => decide(read, guard(read), facts),
  });
}

/**
 * What a write brings along for the guard, once the task is read.
 *
 * @throws INVALID_ARGUMENT for a blank override_reason
 */
export function guardOf(
  rpc: string,
  { proof, overrideReason }: Omit<GuardedMessage, 'taskId' | 'executionId'>,
) {
  if (overrideReason !== '' && overrideReason.trim() === '')
    throw invalidArgument('override_reason', 'must say why');
  return (read: TaskRead): GuardedRequest => ({
    rpc,
    proof,
    proofLeaseTaskId: read.namedLease?.taskId,
    overrideReason: overrideReason || undefined,
  });
}

/**
 * The task as a mutation left it. Only if somebody else changed its content meanwhile is it read again: text
 * and etag of one answer belong together.
 */
export async function afterwards(api: Api, call: Call, { read, done }: Pick<Done<unknown>, 'read' | 'done'>) {
  if (!done?.state) return taskMessage(read.task, read.state, read.now);
  const expected = read.state.contentVersion + (done.change.content ? 1n : 0n);
  return done.state.contentVersion === expected
    ? taskMessage(taskAfter(read.task, done.change, done.at), done.state, done.at)
    : currentTask(api, call, read.state.taskId);
}

export const messageOf = ({ task, state, now }: TaskWithState) => taskMessage(task, state, now);

export async function currentTask({ store }: Api, call: Call, taskId: string) {
  const found = await findTask(store, call.project, { taskId });
  return found ? messageOf(found) : fail(noSuchTask(taskId));
}
