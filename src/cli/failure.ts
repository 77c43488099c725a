import { toJson } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { explain, InvalidRequest, LeaseLost, Refused, WriteRejected } from '@holdfast/client';
import { WriteRejectionSchema } from '@holdfast/proto/guard';
import { RefusalSchema } from '@holdfast/proto/lease';
import { ExitCode, UsageError } from './exit.js';
import { styleFor } from './style.js';
import { printable } from './text.js';

/** What the command line was about, for what the error says. */
export interface FailureContext {
  /** The command as typed: `task dep`. */
  command: string;
  json: boolean;
}

/** Tells an error on stderr and returns the exit code that fits it. */
export function reportFailure(error: unknown, { command, json }: FailureContext): number {
  const message = describe(error, command);
  if (json) {
    process.stderr.write(
      `${JSON.stringify({ error: { code: codeOf(error), message, ...detailsOf(error) } })}\n`,
    );
  } else {
    process.stderr.write(`${styleFor(process.stderr).red('error:')} ${printable(message)}\n`);
  }
  return exitCodeOf(error);
}

function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return ExitCode.USAGE;
  if (error instanceof WriteRejected || error instanceof Refused) return ExitCode.REFUSED;
  return ExitCode.FAILED;
}

function describe(error: unknown, command: string): string {
  if (error instanceof WriteRejected && error.code !== 'STALE_LOCK' && error.holder) {
    return `${explain(error)}\nIf that is you: set HOLDFAST_EXECUTION_ID to ${error.holder.executionId}, or give --lease and --fence.`;
  }
  if (!(error instanceof ConnectError)) return explain(error);
  if (error.code === Code.Unimplemented) return notOffered(command);
  if (error.code === Code.Unavailable) {
    return `${error.rawMessage}\nIs the server running? Start it with \`holdfast serve\`, or set HOLDFAST_URL.`;
  }
  if (error.code === Code.Unauthenticated) {
    return `${error.rawMessage}\nSet HOLDFAST_TOKEN or give --token. An admin makes one with \`holdfast token create NAME\`.`;
  }
  return explain(error);
}

function notOffered(command: string): string {
  const chooses = command === 'claim' || command === 'run';
  const what = chooses ? `to choose a task for \`holdfast ${command}\`` : `\`holdfast ${command}\``;
  return `This server does not offer ${what} yet.${chooses ? ' Name the task.' : ''}`;
}

function codeOf(error: unknown): string {
  if (error instanceof UsageError) return 'USAGE';
  if (error instanceof Refused) return 'REFUSED';
  if (error instanceof LeaseLost) return 'LEASE_LOST';
  if (error instanceof WriteRejected) return 'FAILED_PRECONDITION';
  if (error instanceof InvalidRequest) return 'INVALID_ARGUMENT';
  if (!(error instanceof ConnectError)) return 'FAILED';
  return Code[error.code].replace(/(?<!^)[A-Z]/g, '_$&').toUpperCase();
}

function detailsOf(error: unknown): object {
  if (error instanceof WriteRejected) return { rejection: toJson(WriteRejectionSchema, error.detail) };
  if (error instanceof Refused) return { refusal: toJson(RefusalSchema, error.refusal) };
  if (error instanceof InvalidRequest) return { violations: error.violations };
  return {};
}
