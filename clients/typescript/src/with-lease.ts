import { Code, ConnectError } from '@connectrpc/connect';
import type { Lease } from '@holdfast/proto/lease';
import { type AcquireOptions, acquire, type Wanted } from './acquire.js';
import { retryPauseMs } from './backoff.js';
import { sleep, systemClock } from './clock.js';
import { LeaseLost } from './errors.js';
import { type HeldLease, holdLease } from './held-lease.js';
import type { Holdfast } from './holdfast.js';
import { type KeepRenewedOptions, keepRenewed } from './keep-renewed.js';
import { beforeProcessEnds } from './process-end.js';

/** How a lease is asked for, kept and given back. */
export interface WithLeaseOptions extends AcquireOptions, Pick<KeepRenewedOptions, 'onRenewed' | 'random'> {
  /** Told when the lease could not be given back; it then runs out by itself. */
  onReleaseFailed?: (error: unknown, lease: Lease) => void;
}

/**
 * Leases a task, runs `work` while the lease is kept renewed, and gives the lease back: when `work` returns or throws, and
 * when the process is asked to end (SIGINT, SIGTERM, SIGHUP) and the program does not handle that itself.
 * `work` must stop when `held.signal` fires.
 *
 * @throws {@link Refused} when the task is not granted; what `work` throws
 */
export async function withLease<Result>(
  holdfast: Holdfast,
  wanted: Wanted,
  work: (held: HeldLease) => Promise<Result>,
  options: WithLeaseOptions = {},
): Promise<Result> {
  const { grant, asked } = await acquire(holdfast, wanted, options);
  const { lease, task } = grant;
  if (!lease || !task) throw new Error('the server granted a lease and did not say which; is it newer?');
  const renewing = keepRenewed(holdfast, lease, { ...options, asked });
  const holding = holdLease(holdfast, renewing, { ...grant, task }, options.project ?? '');
  const { held } = holding;
  const forget = beforeProcessEnds(async (signal) => {
    renewing.lose(new LeaseLost('released', task.id, new Error(`the process was asked to end by ${signal}`)));
    await release(holdfast, lease, held.releaseNote, options);
  });
  try {
    return await work(held);
  } finally {
    forget();
    renewing.stop();
    holding.end();
    if (!held.closed && !isOver(held.signal.reason))
      await release(holdfast, lease, held.releaseNote, options);
  }
}

// Lost or released: there is nothing to give back.
function isOver(reason: unknown): boolean {
  return reason instanceof LeaseLost && reason.kind !== 'unconfirmed';
}

const RELEASE_ATTEMPTS = 3;

// Also of an unconfirmed lease: if it is still there, this frees the task at once. Releasing twice does no harm.
async function release(
  holdfast: Holdfast,
  lease: Lease,
  note: string,
  { project = '', onReleaseFailed, clock = systemClock }: WithLeaseOptions,
): Promise<void> {
  const request = { project, leaseId: lease.id, fencingToken: lease.fencingToken, note };
  for (let attempt = 1; ; attempt++) {
    try {
      await holdfast.leases.releaseLease(request, { timeoutMs: 5_000 });
      return;
    } catch (error) {
      const again = error instanceof ConnectError && error.code === Code.Unavailable;
      if (!again || attempt === RELEASE_ATTEMPTS) return onReleaseFailed?.(error, lease);
      await sleep(clock, retryPauseMs(attempt, Math.random()));
    }
  }
}
