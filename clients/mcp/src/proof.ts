import { Enforcement, LeaseState, WriteCode } from '@holdfast/proto/guard';
import type { Lease } from '@holdfast/proto/lease';
import type { ToolCall } from './tool.js';

/** The newest lease of the call's execution on a task: live, lost, or (by asking) given back; undefined without one. */
export async function leaseOn(call: ToolCall, taskId: string): Promise<Lease | undefined> {
  const { holdfast, project, executionId, holdings } = call;
  const known = holdings.live.get(taskId)?.lease ?? holdings.lost.find((lease) => lease.taskId === taskId);
  if (known || executionId === '') return known;
  const found = await holdfast.leases.getLease({ project, taskId, executionId }).catch(() => undefined);
  // Only its holder is told a lease's id.
  return found?.lease?.id ? found.lease : undefined;
}

/**
 * The fields that every guarded write carries. The proof is that of the execution's newest lease on the task, also of
 * one that is lost: only so can the server say STALE_LOCK, and keep a late result.
 */
export async function guarded(call: ToolCall, taskId: string, also?: LeaseState) {
  const { project, executionId } = call;
  const lease = await leaseOn(call, taskId);
  const matters =
    lease && [LeaseState.ACTIVE, LeaseState.EXPIRED, LeaseState.REVOKED, also].includes(lease.state);
  return {
    project,
    taskId,
    executionId,
    ...(matters && { proof: { leaseId: lease.id, fencingToken: lease.fencingToken } }),
  };
}

/**
 * Does a guarded write and adds a `warning` to its answer when the guard found fault with it and the project only
 * warns. The verdict is asked for beforehand, and only where it can be bad: without a live lease.
 */
export async function warned<Answer extends object>(
  call: ToolCall,
  write: Awaited<ReturnType<typeof guarded>>,
  work: () => Promise<Answer>,
): Promise<Answer & { warning?: string }> {
  const verdict = call.holdings.live.has(write.taskId)
    ? undefined
    : await call.holdfast.leases.checkLease(write);
  const answer = await work();
  if (!verdict?.rejection || verdict.enforcement !== Enforcement.WARN) return answer;
  const { code, advice } = verdict.rejection;
  return { ...answer, warning: `Done, but without a valid lease (${WriteCode[code]}). ${advice}` };
}
