import { Code, ConnectError } from '@connectrpc/connect';
import type { Lease } from '@holdfast/proto/lease';
import type { UnmetDependency } from '@holdfast/proto/task';
import { type Clock, type Instant, systemClock } from './clock.js';
import {
  msUntil,
  renewalDelayMs,
  renewalRetryDelayMs,
  renewalTimeoutMs,
  safeUntil,
  ttlMs,
} from './deadline.js';
import { LeaseLost, WriteRejected } from './errors.js';
import type { Holdfast } from './holdfast.js';

/** How a lease is kept. */
export interface KeepRenewedOptions {
  /** A moment before the request that `lease` answers was sent: what the lease's time is counted from. */
  asked: Instant;
  /** The project; absent: the token's. */
  project?: string;
  /** Called after each renewal, with the dependencies that were reopened since. */
  onRenewed?: (lease: Lease, dependenciesUnmet: UnmetDependency[]) => void;
  clock?: Clock;
  /** Between 0 and 1, for the jitter. */
  random?: () => number;
}

/** A lease that is being renewed. */
export interface RenewedLease {
  /** The lease as of the last confirmed renewal. */
  readonly lease: Lease;
  /** Fires with a {@link LeaseLost} when the work must stop: lost, or not confirmed before the safe deadline. */
  readonly signal: AbortSignal;
  /** Throws what `signal` would say, also when a blocked event loop kept it from firing. Call before a write. */
  throwIfUnsafe(): void;
  /** Fires `signal` with what was learnt elsewhere, and stops. */
  lose(reason: LeaseLost): void;
  /** Renews no more, and gives up a renewal under way, until the returned function is called. The deadline stays. */
  pause(): () => void;
  /** Ends the renewing and a renewal under way. Leaves no timer. */
  stop(): void;
}

// The machine may have slept: look at the wall clock at least this often.
const LOOK_EVERY_MS = 1_000;

/**
 * Renews `lease` at a third of its TTL until stopped. A failed renewal leaves the lease *unknown* and is tried
 * again until the safe deadline; an answer that the lease is gone makes it *lost* at once.
 */
export function keepRenewed(holdfast: Holdfast, lease: Lease, options: KeepRenewedOptions): RenewedLease {
  const clock = options.clock ?? systemClock;
  const random = options.random ?? Math.random;
  const lost = new AbortController();
  let stopped = false;
  let pauses = 0;
  let current = lease;
  let deadline = safeUntil(lease, options.asked);
  let renewAtMs = options.asked.monotonicMs + renewalDelayMs(lease, random);
  let failures = 0;
  let lastFailure: unknown;
  let renewal: AbortController | undefined;
  let cancelTimer = () => {};

  function stop(): void {
    stopped = true;
    cancelTimer();
    renewal?.abort();
  }

  function lose(reason: LeaseLost): void {
    if (stopped) return;
    stop();
    lost.abort(reason);
  }

  function look(): void {
    cancelTimer();
    if (stopped) return;
    const now = clock.now();
    const leftMs = msUntil(deadline, now);
    if (leftMs <= 0) {
      lose(new LeaseLost('unconfirmed', current.taskId, lastFailure));
      return;
    }
    if (!renewal && pauses === 0 && now.monotonicMs >= renewAtMs) void renew(leftMs);
    const untilRenewalMs = renewal || pauses > 0 ? LOOK_EVERY_MS : renewAtMs - now.monotonicMs;
    cancelTimer = clock.after(Math.max(0, Math.min(LOOK_EVERY_MS, leftMs, untilRenewalMs)), look);
  }

  async function renew(leftMs: number): Promise<void> {
    const attempt = new AbortController();
    renewal = attempt;
    const asked = clock.now();
    try {
      const answer = await holdfast.leases.renewLease(
        { project: options.project ?? '', leaseId: lease.id, fencingToken: lease.fencingToken },
        { signal: attempt.signal, timeoutMs: Math.ceil(renewalTimeoutMs(ttlMs(current), leftMs)) },
      );
      if (stopped || !answer.lease) return;
      current = answer.lease;
      deadline = safeUntil(current, asked);
      renewAtMs = asked.monotonicMs + renewalDelayMs(current, random);
      failures = 0;
      options.onRenewed?.(current, answer.dependenciesUnmet);
    } catch (error) {
      if (attempt.signal.aborted) return;
      if (isGone(error)) return lose(new LeaseLost('lost', lease.taskId, error));
      lastFailure = error;
      failures += 1;
      renewAtMs = clock.now().monotonicMs + renewalRetryDelayMs(ttlMs(current), failures, random());
    } finally {
      renewal = undefined;
      look();
    }
  }

  look();
  return {
    get lease() {
      return current;
    },
    signal: lost.signal,
    throwIfUnsafe() {
      if (msUntil(deadline, clock.now()) <= 0) {
        lose(new LeaseLost('unconfirmed', current.taskId, lastFailure));
      }
      lost.signal.throwIfAborted();
    },
    lose,
    pause() {
      pauses += 1;
      renewal?.abort();
      return () => {
        pauses -= 1;
        look();
      };
    },
    stop,
  };
}

function isGone(error: unknown): boolean {
  if (error instanceof WriteRejected) return true;
  return (
    error instanceof ConnectError && (error.code === Code.FailedPrecondition || error.code === Code.NotFound)
  );
}
