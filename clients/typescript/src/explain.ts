import { timestampDate } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import type { Holder } from '@holdfast/proto/guard';
import { RefusalReason } from '@holdfast/proto/lease';
import { InvalidRequest, LeaseLost, Refused, WriteRejected, type WriteRejectedCode } from './errors.js';

const rejected: Record<WriteRejectedCode, string> = {
  LOCK_REQUIRED: 'the task needs a lease and the write proved none',
  LOCK_EXPIRED: 'the lease that the write proved is over',
  LOCKED_BY_OTHER: 'somebody else holds the task',
  STALE_LOCK: 'the task was granted again since, or the lease was taken away',
};

const statuses: Partial<Record<Code, string>> = {
  [Code.Unauthenticated]: 'The server does not accept the token. Use one that is valid and not revoked.',
  [Code.PermissionDenied]: 'The token does not allow this. Ask an admin of the project.',
  [Code.Unavailable]: 'The server cannot be reached. Check its address and whether it runs.',
  [Code.DeadlineExceeded]: 'The server did not answer in time. Whether it acted is unknown; try again.',
  [Code.Unimplemented]: 'This server does not offer that yet. Use a newer server.',
  [Code.ResourceExhausted]: 'The server has too much to do, or the message is too large. Try again later.',
};

/** Says in one or two lines what happened and what to do, for people. Never throws. */
export function explain(error: unknown): string {
  if (error instanceof WriteRejected) {
    const who = heldBy(error.holder, error.expiresAt);
    return lines(`Refused, ${error.code}: ${rejected[error.code] ?? error.message}${who}.`, error.advice);
  }
  if (error instanceof Refused) {
    const { reason, holder, expiresAt, advice } = error.refusal;
    const who = heldBy(holder, expiresAt && timestampDate(expiresAt));
    return lines(`Not granted, ${RefusalReason[reason]}${who}.`, advice);
  }
  if (error instanceof InvalidRequest) {
    return error.violations.map(({ field, description }) => `${field}: ${description}`).join('\n');
  }
  if (error instanceof LeaseLost) {
    return lines(`Stop: ${error.message}.`, 'Somebody else may work on it now; acquire it anew to go on.');
  }
  if (error instanceof ConnectError) {
    return lines(error.rawMessage || Code[error.code], statuses[error.code] ?? '');
  }
  return error instanceof Error ? error.message : String(error);
}

function heldBy(holder: Holder | undefined, until: Date | undefined): string {
  if (!holder) return '';
  const end = until ? ` until ${until.toISOString()}` : '';
  return ` (held by ${holder.principal}, execution ${holder.executionId}${end})`;
}

function lines(...parts: string[]): string {
  return parts.filter((part) => part !== '').join('\n');
}
