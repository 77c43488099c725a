import { durationMs } from '@bufbuild/protobuf/wkt';
import type { Lease } from '@holdfast/proto/lease';
import type { Instant } from './clock.js';

/** How long before a lease's end its holder stops: 2 s or a tenth of the TTL, but never over a third. In ms. */
export function safetyMarginMs(ttlMs: number): number {
  return Math.min(Math.max(2_000, ttlMs / 10), ttlMs / 3);
}

/** When the holder of `lease` must stop, counted from `asked`: before the request that it answers was sent. */
export function safeUntil(lease: Lease, asked: Instant): Instant {
  const usableMs = remainingMs(lease) - safetyMarginMs(ttlMs(lease));
  return { monotonicMs: asked.monotonicMs + usableMs, wallMs: asked.wallMs + usableMs };
}

/** How long until `deadline` on the clock that gets there first; 0 or less when either says late. In ms. */
export function msUntil(deadline: Instant, now: Instant): number {
  return Math.min(deadline.monotonicMs - now.monotonicMs, deadline.wallMs - now.wallMs);
}

/** When to renew: after a third of the TTL (or of what is left, near the age cap), give or take 10 %. In ms. */
export function renewalDelayMs(lease: Lease, random: () => number): number {
  const third = Math.min(ttlMs(lease), remainingMs(lease)) / 3;
  return third * (0.9 + 0.2 * random());
}

/** How long to wait after so many failed renewals in a row before the next. In ms. */
export function renewalRetryDelayMs(ttl: number, failures: number, random: number): number {
  return Math.min(250 * 2 ** (failures - 1), 5_000, ttl / 6) * (0.5 + random);
}

/** How long one attempt to renew may take: an answer that got lost must leave time for a second try. In ms. */
export function renewalTimeoutMs(ttl: number, leftMs: number): number {
  return Math.min(leftMs, Math.max(1_000, ttl / 6), 15_000);
}

/** How long the lease lived on when the server answered. In ms. */
export function remainingMs(lease: Lease): number {
  return lease.remaining ? durationMs(lease.remaining) : 0;
}

/** The lease's time to live, as the server applied it. In ms. */
export function ttlMs(lease: Lease): number {
  return lease.ttl ? durationMs(lease.ttl) : remainingMs(lease);
}
