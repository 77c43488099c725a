import type { Micros } from './instant.js';
import type { Holder, PrincipalKind, Role } from './principal.js';
import type { LeaseEnd, TaskStatus } from './task-state.js';

/** The verdicts that find fault with a write. */
export type WriteCode = 'LOCK_REQUIRED' | 'LOCK_EXPIRED' | 'LOCKED_BY_OTHER' | 'STALE_LOCK';

export type ReadyCause =
  | 'CREATED'
  | 'DEPENDENCY_MET'
  | 'DEPENDENCY_REMOVED'
  | 'RELEASED'
  | 'EXPIRED'
  | 'REVOKED'
  | 'REOPENED'
  | 'REQUEUED';

export type LeaseEndCause =
  | 'RELEASED'
  | 'COMPLETED'
  | 'DROPPED'
  | 'DELETED'
  | 'EXECUTION_ENDED'
  | 'EXPIRED'
  | 'FORCED'
  | 'CLOSED_BY_OTHER';

/** A field's value before and after, as text, cut at {@link MAX_CHANGE_TEXT} characters. */
export interface FieldChange {
  readonly field: string;
  readonly before: string;
  readonly after: string;
}

const MAX_CHANGE_TEXT = 1024;

/** A text as an event tells it. Never cut inside a character: Postgres takes no half of one. */
export function cutText(text: string): string {
  if (text.length <= MAX_CHANGE_TEXT) return text;
  return `${text.slice(0, MAX_CHANGE_TEXT - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

interface LeaseGrantedPayload {
  readonly holder: Holder;
  /** Filled in by the statement that grants: only it knows the clock after the lock. */
  readonly expiresAt?: Micros;
  readonly ttl: Micros;
  readonly attempt: number;
  readonly previousHolder?: Holder;
  readonly previousEnd?: LeaseEnd;
  readonly previousFencingToken?: string;
}

interface LeaseEndedPayload {
  readonly holder: Holder;
  readonly cause: LeaseEndCause;
  readonly expiresAt: Micros;
  readonly reason?: string;
  readonly expiriesInARow?: number;
  readonly lastNote?: string;
}

interface GuardedWritePayload {
  readonly rpc: string;
  readonly code: WriteCode;
  readonly holder?: Holder;
  /** int64 as a decimal string: the payload is stored as JSON. */
  readonly proofToken?: string;
  readonly overrideReason?: string;
  readonly keptResult?: string;
}

interface PlanPayload {
  readonly planId: string;
  readonly title: string;
  readonly changes: readonly FieldChange[];
}

interface ProjectPayload {
  readonly title: string;
  readonly changes: readonly FieldChange[];
}

interface WebhookPayload {
  readonly webhookId: string;
  /** Scheme, host and port alone: agents read the history, and the rest of a URL is often a secret. */
  readonly url: string;
  readonly error?: string;
}

interface TokenPayload {
  readonly tokenId: string;
  readonly principal: string;
  readonly kind: PrincipalKind;
  readonly role: Role;
}

interface DependencyPayload {
  readonly blockedBy: string;
  readonly acceptDropped: boolean;
}

/** What each kind of event tells. Int64 values are decimal strings, instants microseconds. */
export interface EventPayloads {
  TASK_CREATED: {
    readonly title: string;
    readonly status: TaskStatus;
    readonly priority: number;
    readonly labels: readonly string[];
    readonly planId?: string;
    readonly parentId?: string;
    readonly externalKey?: string;
    readonly blockedBy: readonly string[];
  };
  TASK_UPDATED: { readonly changes: readonly FieldChange[] };
  TASK_READY: { readonly cause: ReadyCause };
  TASK_COMPLETED: { readonly result: string };
  TASK_DROPPED: { readonly reason: string; readonly stillBlocked: readonly string[] };
  TASK_REOPENED: {
    readonly reason: string;
    readonly previousStatus: TaskStatus;
    readonly blockedAgain: readonly string[];
  };
  TASK_QUARANTINED: { readonly expiries: number };
  TASK_REQUEUED: { readonly reason: string };
  TASK_DELETED: {
    readonly title: string;
    readonly externalKey?: string;
    readonly planId?: string;
    readonly detached: readonly string[];
  };
  NOTE_ADDED: { readonly noteId: string; readonly text: string };
  DEPENDENCY_ADDED: DependencyPayload;
  DEPENDENCY_REMOVED: DependencyPayload;
  PLAN_CREATED: PlanPayload;
  PLAN_UPDATED: PlanPayload;
  LEASE_ACQUIRED: LeaseGrantedPayload;
  LEASE_TAKEN_OVER: LeaseGrantedPayload;
  LEASE_RELEASED: LeaseEndedPayload;
  LEASE_EXPIRED: LeaseEndedPayload;
  LEASE_REVOKED: LeaseEndedPayload;
  ACQUIRE_REFUSED: { readonly reason: string; readonly holder?: Holder };
  WRITE_WARNED: GuardedWritePayload;
  WRITE_REJECTED: GuardedWritePayload;
  WRITE_OVERRIDDEN: GuardedWritePayload;
  EXECUTION_ENDED: { readonly leasesReleased: number };
  PROJECT_CREATED: ProjectPayload;
  SETTINGS_CHANGED: ProjectPayload;
  WEBHOOK_CREATED: WebhookPayload;
  WEBHOOK_DELETED: WebhookPayload;
  WEBHOOK_FAILED: WebhookPayload;
  TOKEN_CREATED: TokenPayload;
  TOKEN_REVOKED: TokenPayload;
}

export type EventKind = keyof EventPayloads;

/** An event before it is written: the statement that writes it adds time, token and id. */
export type EventDraft = {
  [K in EventKind]: {
    readonly kind: K;
    readonly payload: EventPayloads[K];
    /** Who did it; nobody did an expiry. */
    readonly actor?: Actor;
    /** Events with the same key within one minute are one, and count their repeats. */
    readonly oncePerMinute?: string;
  };
}[EventKind];

export interface Actor {
  readonly principal: string;
  readonly kind: PrincipalKind;
  readonly executionId: string | undefined;
}
