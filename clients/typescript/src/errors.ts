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

/** A write or a renewal was refused by the write guard. Trying the same again does not help. */
export class WriteRejected extends Error {
  override readonly name = 'WriteRejected';
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
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(`refused ${RefusalReason[refusal.reason]}: ${refusal.advice}`);
    this.refusal = refusal;
  }
}

/** The work must stop: its lease is gone, or can't be known to be there. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
  /** `lost`: the server said so. `unconfirmed`: no renewal was confirmed before the safe deadline. */
  readonly kind: 'lost' | 'unconfirmed';

  constructor(kind: 'lost' | 'unconfirmed', taskId: string, cause?: unknown) {
    super(
      kind === 'lost'
        ? `the lease on task ${taskId} is lost`
        : `the lease on task ${taskId} was not confirmed in time and may be lost`,
      { cause },
    );
    this.kind = kind;
  }
}

/** Turns an RPC's error into the typed one that its details tell of; any other stays what it is. */
export function typedError(error: unknown): unknown {
  if (!(error instanceof ConnectError)) return error;
  const rejection = error.findDetails(WriteRejectionSchema)[0];
  if (rejection) return new WriteRejected(rejection, error);
  const violations = error.findDetails(FieldViolationSchema);
  if (violations.length > 0) return new InvalidRequest(violations, error);
  return error;
}
