/**
 * Holdfast for TypeScript: typed services, and leases that are kept renewed while work runs under them.
 * The messages and services themselves come from `@holdfast/proto`.
 */
export { type Acquired, type AcquireOptions, acquire, type Wanted } from './acquire.js';
export { type Clock, type Instant, systemClock } from './clock.js';
export {
  InvalidRequest,
  LeaseLost,
  type LeaseLostKind,
  LockExpired,
  LockedByOther,
  LockRequired,
  Refused,
  StaleLock,
  WriteRejected,
  type WriteRejectedCode,
} from './errors.js';
export { explain } from './explain.js';
export type { HeldLease, TaskChange } from './held-lease.js';
export { createHoldfast, type Holdfast, type HoldfastOptions } from './holdfast.js';
export { type KeepRenewedOptions, keepRenewed, type RenewedLease } from './keep-renewed.js';
export { Setbacks } from './setbacks.js';
export { type WatchConnection, type WatchNews, type WatchOptions, watch } from './watch.js';
export { type WithLeaseOptions, withLease } from './with-lease.js';
export {
  bestReady,
  type ReadyFilter,
  type TaskHandler,
  type WorkerOptions,
  type WorkOptions,
  worker,
  workNext,
} from './worker.js';
