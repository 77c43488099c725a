import { Code, ConnectError } from '@connectrpc/connect';
import {
  FieldViolationSchema,
  RetryAdviceSchema,
  WriteCode,
  WriteRejectionSchema,
} from '@holdfast/proto/guard';
import { BlockedSchema } from '@holdfast/proto/task';
import type { UnmetDependency } from '../domain/neighbours.js';
import type { Problem } from '../domain/problem.js';
import { rejectionMessage } from './encode/lease.js';
import { unmetMessage } from './encode/task.js';
import { duration } from './encode/time.js';

/** A problem on its way out: the errors interceptor gives it its status code and details. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  constructor(readonly problem: Problem) {
    super(problem.kind);
  }
}

export function invalidArgument(field: string, description: string): ConnectError {
  return new ConnectError(`${field} ${description}`, Code.InvalidArgument, undefined, [
    { desc: FieldViolationSchema, value: { field, description } },
  ]);
}

/** Nothing was done because others were in the way; when to try again, in microseconds, jittered. */
export function contended(message: string): ConnectError {
  const wait = Math.ceil(100_000 * (1 + Math.random()));
  return new ConnectError(message, Code.Aborted, undefined, [
    { desc: RetryAdviceSchema, value: { retryAfter: duration(wait) } },
  ]);
}

/**
 * The caller has had its share; nothing was done.
 *
 * @param waitMs until it may have more; told with up to a fifth on top, so that many do not come back at once
 */
export function exhausted(message: string, waitMs: number): ConnectError {
  const wait = Math.ceil(waitMs * 1_000 * (1 + Math.random() / 5));
  return new ConnectError(message, Code.ResourceExhausted, undefined, [
    { desc: RetryAdviceSchema, value: { retryAfter: duration(wait) } },
  ]);
}

export function problemError(problem: Problem): ConnectError {
  switch (problem.kind) {
    case 'INVALID_ARGUMENT':
      return invalidArgument(problem.field, problem.description);
    case 'NOT_FOUND':
      return new ConnectError(problem.message, Code.NotFound);
    case 'ALREADY_EXISTS':
      return new ConnectError(problem.message, Code.AlreadyExists);
    case 'PERMISSION_DENIED':
      return new ConnectError(problem.message, Code.PermissionDenied);
    case 'FAILED_PRECONDITION':
      return new ConnectError(problem.message, Code.FailedPrecondition);
    case 'BLOCKED':
      return new ConnectError(
        `The task waits for ${problem.count} unfinished task(s): ${named(problem.unmet)}. Finish those first.`,
        Code.FailedPrecondition,
        undefined,
        [{ desc: BlockedSchema, value: { unmetDependencies: problem.unmet.map(unmetMessage) } }],
      );
    case 'ETAG_MISMATCH':
      return new ConnectError(problem.message, Code.Aborted);
    case 'WRITE_REJECTED': {
      // Not ABORTED or UNAVAILABLE: retry policies resend those, and contention must not be retried blindly.
      const value = rejectionMessage(problem.rejection);
      const name = WriteCode[value.code ?? WriteCode.UNSPECIFIED];
      return new ConnectError(`${name}: ${problem.rejection.advice}`, Code.FailedPrecondition, undefined, [
        { desc: WriteRejectionSchema, value },
      ]);
    }
  }
}

function named(unmet: readonly UnmetDependency[]): string {
  const shown = unmet.slice(0, 3).map(({ title }) => JSON.stringify(title));
  return unmet.length > shown.length ? `${shown.join(', ')} and more` : shown.join(', ');
}
