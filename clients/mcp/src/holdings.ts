import { durationMs, type Timestamp } from '@bufbuild/protobuf/wkt';
import { type Clock, type Holdfast, type Instant, systemClock } from '@holdfast/client';
import type { Lease } from '@holdfast/proto/lease';

/** What an execution holds, and what it lost, as the server told it. */
export interface Holdings {
  /** The live leases by their task, each with a moment before the request that told of it. */
  readonly live: Map<string, { readonly lease: Lease; readonly asked: Instant }>;
  /** Those that ran out or were taken away in the last day and were not granted to this execution again. */
  readonly lost: readonly Lease[];
  /** Those of them that the agent may not know of. */
  readonly untold: readonly Lease[];
}

export const nothingHeld = (): Holdings => ({ live: new Map(), lost: [], untold: [] });

/** Renews all leases of an execution. */
export async function renewAll(
  holdfast: Holdfast,
  project: string,
  executionId: string,
  clock: Clock = systemClock,
): Promise<Holdings> {
  const asked = clock.now();
  const { renewed, lost } = await holdfast.leases.renewExecution({ project, executionId });
  const live = new Map(renewed.map((lease) => [lease.taskId, { lease, asked }]));
  // A loss before the newest grant was told by the answer that told of that grant.
  const newestGrant = Math.max(0, ...renewed.map(({ grantedAt }) => microseconds(grantedAt)));
  const untold = lost.filter(({ endedAt }) => microseconds(endedAt) > newestGrant);
  return { live, lost, untold };
}

/** Since 1970: what the database's clock tells apart. */
function microseconds(at: Timestamp | undefined): number {
  return at ? Number(at.seconds) * 1e6 + Math.floor(at.nanos / 1e3) : 0;
}

/** How long a lease lives from now, in whole seconds, never told too long. */
export function secondsLeft(lease: Lease, asked: Instant, now: Instant): number {
  const usedMs = Math.max(now.monotonicMs - asked.monotonicMs, now.wallMs - asked.wallMs);
  return Math.max(0, Math.floor((remainingMs(lease) - usedMs) / 1_000));
}

export const remainingMs = (lease: Lease): number => (lease.remaining ? durationMs(lease.remaining) : 0);
