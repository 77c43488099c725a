import { durationFromMs, durationMs } from '@bufbuild/protobuf/wkt';
import { type Grant, type Refusal, RefusalReason } from '@holdfast/proto/lease';
import { type Clock, type Instant, sleep, systemClock } from './clock.js';
import { remainingMs } from './deadline.js';
import { LeaseLost, Refused } from './errors.js';
import type { Holdfast } from './holdfast.js';

/** Which task is wanted: one by its id, or the best ready one that passes the filter. */
export type Wanted = { taskId: string } | { next: { planId?: string; labels?: string[]; assignee?: string } };

/** How a lease is asked for. */
export interface AcquireOptions {
  /** The project; absent: the token's. */
  project?: string;
  /** The lease's time to live in milliseconds, from 1,000; absent: the project's default. */
  ttlMs?: number;
  /** How long to go on asking while it is refused and waiting can help, in milliseconds; absent: ask once. */
  waitMs?: number;
  /** Stops the waiting; the promise rejects with its reason. */
  signal?: AbortSignal;
  clock?: Clock;
}

/** A grant, and the moment from which the lease's time counts. */
export interface Acquired {
  grant: Grant;
  asked: Instant;
}

// The server holds a call at most 50 s.
const LONGEST_CALL_MS = 50_000;

/** Leases a task, waiting for it up to `waitMs`. Throws {@link Refused} when it is not granted. */
export async function acquire(
  holdfast: Holdfast,
  wanted: Wanted,
  options: AcquireOptions = {},
): Promise<Acquired> {
  const clock = options.clock ?? systemClock;
  const giveUpAt = clock.now().monotonicMs + (options.waitMs ?? 0);
  for (;;) {
    const leftMs = Math.max(0, giveUpAt - clock.now().monotonicMs);
    const asked = clock.now();
    const answer = await ask(holdfast, wanted, options, Math.min(leftMs, LONGEST_CALL_MS)).catch((error) => {
      options.signal?.throwIfAborted();
      throw error;
    });
    if (answer.$typeName === 'holdfast.v1.Grant') return confirmed(holdfast, answer, asked, options);
    const againMs = askAgainMs(answer, giveUpAt - clock.now().monotonicMs);
    if (againMs === undefined) throw new Refused(answer);
    await sleep(clock, againMs, options.signal);
  }
}

async function ask(
  holdfast: Holdfast,
  wanted: Wanted,
  { project = '', ttlMs, signal }: AcquireOptions,
  waitMs: number,
): Promise<Grant | Refusal> {
  const request = {
    project,
    executionId: holdfast.executionId,
    requestId: crypto.randomUUID(),
    ...(ttlMs === undefined ? {} : { ttl: durationFromMs(ttlMs) }),
  };
  const call = { timeoutMs: Math.ceil(waitMs) + 30_000, ...(signal ? { signal } : {}) };
  const { outcome } =
    'taskId' in wanted
      ? await holdfast.leases.acquireLease({ ...request, taskId: wanted.taskId }, call)
      : await holdfast.leases.acquireNextTask(
          { ...request, ...wanted.next, ...(waitMs > 0 ? { wait: durationFromMs(Math.round(waitMs)) } : {}) },
          call,
        );
  if (!outcome.value) throw new Error('the server answered neither a grant nor a refusal; is it newer?');
  return outcome.value;
}

// Undefined: asking again is no use, or the time is up.
function askAgainMs(refusal: Refusal, leftMs: number): number | undefined {
  if (leftMs <= 0) return undefined;
  if (refusal.reason === RefusalReason.NOTHING_READY) return Math.min(250, leftMs);
  if (!refusal.retryAfter) return undefined;
  return Math.min(Math.max(250, durationMs(refusal.retryAfter)), leftMs);
}

// The lease of a call that was held long would look old from the start: ask once more how long it lives.
async function confirmed(
  holdfast: Holdfast,
  grant: Grant,
  asked: Instant,
  { project = '', clock = systemClock }: AcquireOptions,
): Promise<Acquired> {
  const { lease } = grant;
  if (!lease || clock.now().monotonicMs - asked.monotonicMs < remainingMs(lease) / 4) return { grant, asked };
  const askedAgain = clock.now();
  const { id: leaseId, fencingToken } = lease;
  const renewed = await holdfast.leases.renewLease({ project, leaseId, fencingToken }).catch((error) => {
    throw new LeaseLost('unconfirmed', lease.taskId, error);
  });
  return { grant: { ...grant, lease: renewed.lease ?? lease }, asked: askedAgain };
}
