import { setTimeout as sleep } from 'node:timers/promises';
import { toJson } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { HeldLease } from '@holdfast/client';
import { ContinuationSchema, LeaseSchema } from '@holdfast/proto/lease';
import { TaskSchema } from '@holdfast/proto/task';
import type { Session } from './session.js';

/** What the help of each command that runs another says of its environment. */
export const ENVIRONMENT_HELP = `The command finds HOLDFAST_TASK_ID, HOLDFAST_TASK_TITLE, HOLDFAST_ATTEMPT, HOLDFAST_LEASE_ID,
HOLDFAST_FENCING_TOKEN and HOLDFAST_EXECUTION_ID in its environment, so \`holdfast task note\` and the like work inside
it, and in HOLDFAST_CONTINUATION as JSON what earlier holders left: their notes, and the results of what it waited for.`;

/** The environment of a command that works on a leased task. */
export function heldEnvironment(
  { project, given }: Session,
  { task, lease, proof, continuation }: HeldLease,
): NodeJS.ProcessEnv {
  return {
    ...process.env,
    HOLDFAST_TASK_ID: task.id,
    HOLDFAST_TASK_TITLE: task.title,
    HOLDFAST_ATTEMPT: String(lease.attempt),
    HOLDFAST_LEASE_ID: proof.leaseId,
    HOLDFAST_FENCING_TOKEN: String(proof.fencingToken),
    HOLDFAST_EXECUTION_ID: lease.holder?.executionId,
    HOLDFAST_CONTINUATION: continuation ? JSON.stringify(toJson(ContinuationSchema, continuation)) : '{}',
    ...(project ? { HOLDFAST_PROJECT: project } : {}),
    ...(given.url ? { HOLDFAST_URL: given.url } : {}),
    ...(given.token ? { HOLDFAST_TOKEN: given.token } : {}),
  };
}

/** The same for a command that reads JSON. */
export function heldJson({ task, lease, continuation }: HeldLease): string {
  const every = { alwaysEmitImplicit: true };
  return JSON.stringify({
    task: toJson(TaskSchema, task, every),
    lease: toJson(LeaseSchema, lease, every),
    continuation: continuation ? toJson(ContinuationSchema, continuation, every) : null,
  });
}

/** Settles when the lease is lost. */
export function lost(signal: AbortSignal): Promise<'lost'> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve('lost');
    signal.addEventListener('abort', () => resolve('lost'), { once: true });
  });
}

/**
 * Completes a leased task. Under one request id, so that an answer that got lost can be asked for again while the lease
 * lives.
 */
export async function completeHeld(
  { holdfast, project }: Session,
  held: HeldLease,
  result: string,
): Promise<void> {
  const request = {
    project,
    taskId: held.task.id,
    executionId: held.lease.holder?.executionId ?? '',
    proof: held.proof,
    result,
    requestId: crypto.randomUUID(),
  };
  for (;;) {
    held.throwIfUnsafe();
    try {
      await holdfast.tasks.completeTask(request, { signal: held.signal });
      return;
    } catch (error) {
      if (!(error instanceof ConnectError && error.code === Code.Unavailable)) throw error;
      await sleep(500);
    }
  }
}
