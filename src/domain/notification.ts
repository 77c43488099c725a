import type { EventKind } from './event.js';

/** The events that the people on a project are notified of. */
export const NOTIFIED = [
  'TASK_QUARANTINED',
  'LEASE_EXPIRED',
  'WEBHOOK_FAILED',
] as const satisfies EventKind[];

/**
 * Those of them that are sent to webhooks, too. Each is about a task. That a webhook failed is not sent: a failing
 * webhook would be told of its own failure for ever.
 */
export const POSTED = ['TASK_QUARANTINED', 'LEASE_EXPIRED'] as const satisfies EventKind[];
