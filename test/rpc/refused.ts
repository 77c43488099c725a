import { Code, ConnectError } from '@connectrpc/connect';
import { FieldViolationSchema, WriteCode, WriteRejectionSchema } from '@holdfast/proto/guard';
import { expect } from 'vitest';

/** What a refused call said. */
export interface RefusedCall {
  readonly code: keyof typeof Code;
  /** With INVALID_ARGUMENT: the field. */
  readonly field?: string;
  /** With a write that the guard refused: its verdict. */
  readonly verdict?: keyof typeof WriteCode;
  readonly text: string;
}

/** Waits for a call to be refused. Fails when it is not. */
export async function refused(call: Promise<unknown>): Promise<RefusedCall> {
  const thrown = await call.then(
    () => expect.fail('the call was not refused'),
    (error: Error) => error,
  );
  // The client's typed errors keep the status as their cause.
  const error = ConnectError.from(thrown instanceof ConnectError ? thrown : (thrown.cause ?? thrown));
  const [violation] = error.findDetails(FieldViolationSchema);
  const [rejection] = error.findDetails(WriteRejectionSchema);
  return {
    code: Code[error.code] as keyof typeof Code,
    ...(violation && { field: violation.field }),
    ...(rejection && { verdict: WriteCode[rejection.code] as keyof typeof WriteCode }),
    text: error.rawMessage,
  };
}
