import { durationMs, timestampDate } from '@bufbuild/protobuf/wkt';
import { ConnectError } from '@connectrpc/connect';
import {
  FieldViolationSchema,
  type Holder,
  WriteCode,
  type WriteRejection,
  WriteRejectionSchema,
} from '@holdfast/proto/guard';
import { type Refusal, RefusalReason } from '@holdfast/proto/lease';

/** Why the write guard refused a write. */
export type WriteRejectedCode = 'LOCK_REQUIRED' | 'LOCK_EXPIRED' | 'LOCKED_BY_OTHER' | 'STALE_LOCK';

/**
 * A write or a renewal was refused by the write guard: a {@link LockRequired}, {@link LockExpired},
 * {@link LockedByOther} or {@link StaleLock}. Trying the same again does not help.
 */
export class WriteRejected extends Error {
  override readonly name: string = 'WriteRejected';
  readonly code: WriteRejectedCode;
  readonly taskId: string;
  /** Who holds the live lease, if anybody does. */
  readonly holder: Holder | undefined;
  /** When that lease ends unless it is renewed. */
  readonly expiresAt: Date | undefined;
  /** After how many milliseconds trying again makes sense. Absent when waiting does not help. */
  readonly retryAfterMs: number | undefined;
  /** The task's current fencing token. */
  readonly fencingToken: bigint;
  /** One sentence: what to do now. */
  readonly advice: string;
  /** The detail as the server sent it. */
  readonly detail: WriteRejection;

  constructor(detail: WriteRejection, cause: ConnectError) {
    super(cause.rawMessage, { cause });
    this.code = WriteCode[detail.code] as WriteRejectedCode;
    this.taskId = detail.taskId;
    this.holder = detail.holder;
    this.expiresAt = detail.expiresAt && timestampDate(detail.expiresAt);
    this.retryAfterMs = detail.retryAfter && durationMs(detail.retryAfter);
    this.fencingToken = detail.fencingToken;
    this.advice = detail.advice;
    this.detail = detail;
  }
}

/** The task can be leased, and the write proved no lease: acquire the task, or send the proof. */
export class LockRequired extends WriteRejected {
  override readonly name = 'LockRequired';
}

/** The lease that the write proved is over, and nobody took the task yet: stop, acquire it again, read its notes. */
export class LockExpired extends WriteRejected {
  override readonly name = 'LockExpired';
}

/** Somebody else holds the task: take another one, or wait for `retryAfterMs`. */
export class LockedByOther extends WriteRejected {
  override readonly name = 'LockedByOther';
}

/** The task was granted anew since, or an admin took it away: stop, and throw the changes away. */
export class StaleLock extends WriteRejected {
  override readonly name = 'StaleLock';
}

/** The server found fault with fields of the request. */
export class InvalidRequest extends Error {
  override readonly name = 'InvalidRequest';
  /** The fields as in the .proto, and what is wrong with each. */
  readonly violations: readonly { field: string; description: string }[];

  constructor(violations: readonly { field: string; description: string }[], cause: ConnectError) {
    super(cause.rawMessage, { cause });
    this.violations = violations;
  }
}

/** A lease was not granted. The server's answer says why, and what to do instead. */
export class Refused extends Error {
  override readonly name = 'Refused';
  /** Why: `HELD`, `DEPENDENCIES_UNMET`, `TASK_CLOSED`, `NOTHING_READY`, … */
  readonly reason: keyof typeof RefusalReason;
  /** Who holds the task, with `HELD`. */
  readonly holder: Holder | undefined;
  /** When that lease ends unless it is renewed. */
  readonly expiresAt: Date | undefined;
  /** After how many milliseconds asking again makes sense. Absent when waiting does not help. */
  readonly retryAfterMs: number | undefined;
  /** One sentence: what to do now. */
  readonly advice: string;
  /** The answer as the server sent it: also what the task waits for, and ready tasks to take instead. */
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    const reason = RefusalReason[refusal.reason] as keyof typeof RefusalReason;
    super(`refused ${reason}: ${refusal.advice}`);
    this.reason = reason;
    this.holder = refusal.holder;
    this.expiresAt = refusal.expiresAt && timestampDate(refusal.expiresAt);
    this.retryAfterMs = refusal.retryAfter && durationMs(refusal.retryAfter);
    this.advice = refusal.advice;
    this.refusal = refusal;
  }
}

/** Why a lease is not there to work under; see {@link LeaseLost.kind}. */
export type LeaseLostKind = 'lost' | 'unconfirmed' | 'released';

const lostMessages: Record<LeaseLostKind, string> = {
  lost: 'is lost',
  unconfirmed: 'was not confirmed in time and may be lost',
  released: 'was given back',
};

/** The work must stop: its lease is gone, or can't be known to be there. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
  /**
   * `lost`: the server said so. `unconfirmed`: unknown; no renewal was confirmed before the safe deadline.
   * `released`: this program gave it back, by completing the task, by leaving `withLease` or since the process ends.
   */
  readonly kind: LeaseLostKind;
  readonly taskId: string;

  constructor(kind: LeaseLostKind, taskId: string, cause?: unknown) {
    super(`the lease on task ${taskId} ${lostMessages[kind]}`, { cause });
    this.kind = kind;
    this.taskId = taskId;
  }
}

// A switch and no table, which bundlers could not leave out.
function rejectionOf(code: WriteCode): typeof WriteRejected {
  switch (code) {
    case WriteCode.LOCK_REQUIRED:
      return LockRequired;
    case WriteCode.LOCK_EXPIRED:
      return LockExpired;
    case WriteCode.LOCKED_BY_OTHER:
      return LockedByOther;
    case WriteCode.STALE_LOCK:
      return StaleLock;
    default:
      return WriteRejected;
  }
}

/** Turns an RPC's error into the typed one that its details tell of; any other stays what it is. */
export function typedError(error: unknown): unknown {
  if (!(error instanceof ConnectError)) return error;
  const rejection = error.findDetails(WriteRejectionSchema)[0];
  if (rejection) return new (rejectionOf(rejection.code))(rejection, error);
  const violations = error.findDetails(FieldViolationSchema);
  if (violations.length > 0) return new InvalidRequest(violations, error);
  return error;
}
