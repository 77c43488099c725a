import { Code, ConnectError } from '@connectrpc/connect';
import { LeaseState } from '@holdfast/proto/guard';
import type { Lease } from '@holdfast/proto/lease';
import type { Command } from 'commander';
import { fencingToken } from './arguments.js';
import { UsageError } from './exit.js';
import type { Session } from './session.js';

/** The options that name a lease. */
export interface LeaseOptions {
  lease?: string;
  fence?: bigint;
}

/** What proves a lease. */
export interface Proof {
  leaseId: string;
  fencingToken: bigint;
}

/** Adds the options that name a lease. */
export function addLeaseOptions(command: Command): Command {
  return command
    .option('--lease <id>', 'the lease you hold (else found by your execution)')
    .option('--fence <token>', "that lease's fencing token", fencingToken);
}

/** The proof on the command line; undefined without one. Throws a UsageError when only half of it is there. */
export function givenProof({ lease, fence }: LeaseOptions): Proof | undefined {
  if (lease === undefined && fence === undefined) return undefined;
  if (lease === undefined || fence === undefined) {
    throw new UsageError(
      '--lease and --fence go together: the lease id and its fencing token, from the claim',
    );
  }
  return { leaseId: lease, fencingToken: fence };
}

/**
 * The proof of the lease that the caller's execution has, or had last, on a task. Only one that may still matter: for
 * a finished task's lease, name its state in `also`.
 */
export async function ownProof(
  session: Session,
  taskId: string,
  also?: LeaseState,
): Promise<Proof | undefined> {
  const lease = session.givenExecution ? await newestLease(session, taskId) : undefined;
  // Only its holder is told a lease's id.
  if (!lease || lease.id === '') return undefined;
  const matters = [LeaseState.ACTIVE, LeaseState.EXPIRED, LeaseState.REVOKED, also].includes(lease.state);
  return matters ? { leaseId: lease.id, fencingToken: lease.fencingToken } : undefined;
}

/** The proof that a command can't do without. Throws an Error that says how to come by it. */
export async function requiredProof(session: Session, taskId: string, options: LeaseOptions): Promise<Proof> {
  const proof = givenProof(options) ?? (await ownProof(session, taskId, LeaseState.RELEASED));
  if (proof) return proof;
  if (!session.givenExecution) {
    throw new UsageError(
      'which lease? Set HOLDFAST_EXECUTION_ID as in the claim, or give --lease and --fence',
    );
  }
  throw new Error(
    `execution ${session.givenExecution} holds no lease on task ${taskId}\nWho does, if anybody: holdfast task show ${taskId}`,
  );
}

async function newestLease(session: Session, taskId: string): Promise<Lease | undefined> {
  const { holdfast, project } = session;
  try {
    const { lease } = await holdfast.leases.getLease({ project, taskId, executionId: holdfast.executionId });
    return lease;
  } catch (error) {
    if (error instanceof ConnectError && error.code === Code.NotFound) return undefined;
    throw error;
  }
}
