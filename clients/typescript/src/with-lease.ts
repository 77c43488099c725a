import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ProofSchema } from '@holdfast/proto/guard';
import type { Continuation, Lease } from '@holdfast/proto/lease';
import type { Task } from '@holdfast/proto/task';
import { type Acquired, type AcquireOptions, acquire, type Wanted } from './acquire.js';
import { LeaseLost } from './errors.js';
import type { Holdfast } from './holdfast.js';
import { type KeepRenewedOptions, keepRenewed, type RenewedLease } from './keep-renewed.js';

/** A lease while the work under it runs. */
export interface HeldLease extends Omit<RenewedLease, 'stop'> {
  /** The task as it was when the lease was granted. */
  readonly task: Task;
  /** What earlier holders left. */
  readonly continuation: Continuation | undefined;
  /** Send this with every write of the task. */
  readonly proof: MessageInitShape<typeof ProofSchema>;
  /** A note for the next holder, left when the lease is released. */
  releaseNote: string;
}

/** How a lease is asked for, kept and given back. */
export interface WithLeaseOptions extends AcquireOptions, Pick<KeepRenewedOptions, 'onRenewed' | 'random'> {
  /** Told when the lease could not be given back; it then runs out by itself. */
  onReleaseFailed?: (error: unknown, lease: Lease) => void;
}

/**
 * Leases a task, runs `work` while the lease is kept renewed, and releases it, also when `work` throws.
 * `work` must stop when `held.signal` fires. Throws {@link Refused} when the task is not granted.
 */
export async function withLease<Result>(
  holdfast: Holdfast,
  wanted: Wanted,
  work: (held: HeldLease) => Promise<Result>,
  options: WithLeaseOptions = {},
): Promise<Result> {
  const acquired = await acquire(holdfast, wanted, options);
  const { lease, task } = acquired.grant;
  if (!lease || !task) throw new Error('the server granted a lease and did not say which; is it newer?');
  const renewing = keepRenewed(holdfast, lease, { ...options, asked: acquired.asked });
  const held = heldLease(renewing, acquired, task, lease);
  try {
    return await work(held);
  } finally {
    renewing.stop();
    if (!isGone(held.signal.reason)) await release(holdfast, lease, held.releaseNote, options);
  }
}

function heldLease(renewing: RenewedLease, { grant }: Acquired, task: Task, lease: Lease): HeldLease {
  return {
    get lease() {
      return renewing.lease;
    },
    signal: renewing.signal,
    throwIfUnsafe: () => renewing.throwIfUnsafe(),
    task,
    continuation: grant.continuation,
    proof: { leaseId: lease.id, fencingToken: lease.fencingToken },
    releaseNote: '',
  };
}

function isGone(reason: unknown): boolean {
  return reason instanceof LeaseLost && reason.kind === 'lost';
}

// Also of an unconfirmed lease: if it is still there, this frees the task at once.
async function release(
  holdfast: Holdfast,
  lease: Lease,
  note: string,
  { project = '', onReleaseFailed }: WithLeaseOptions,
): Promise<void> {
  try {
    await holdfast.leases.releaseLease(
      { project, leaseId: lease.id, fencingToken: lease.fencingToken, note },
      { timeoutMs: 5_000 },
    );
  } catch (error) {
    onReleaseFailed?.(error, lease);
  }
}
