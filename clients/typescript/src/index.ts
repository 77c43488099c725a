/**
 * Holdfast for TypeScript: typed services, and leases that are kept renewed while work runs under them.
 * The messages and services themselves come from `@holdfast/proto`.
 */
export { type Acquired, type AcquireOptions, acquire, type Wanted } from './acquire.js';
export { type Clock, type Instant, systemClock } from './clock.js';
export { InvalidRequest, LeaseLost, Refused, WriteRejected, type WriteRejectedCode } from './errors.js';
export { explain } from './explain.js';
export { createHoldfast, type Holdfast, type HoldfastOptions } from './holdfast.js';
export { type KeepRenewedOptions, keepRenewed, type RenewedLease } from './keep-renewed.js';
export { type WatchConnection, type WatchNews, type WatchOptions, watch } from './watch.js';
export { type HeldLease, type WithLeaseOptions, withLease } from './with-lease.js';
