import { WriteCode } from '@holdfast/proto/guard';
import { CheckLeaseResponseSchema } from '@holdfast/proto/lease';
import type { Command } from 'commander';
import { connected, remoteCommand } from './command.js';
import { ExitCode, UsageError } from './exit.js';
import { addLeaseOptions, givenProof, type LeaseOptions, ownProof } from './own-lease.js';
import { byIdOrKey, taskId } from './references.js';

/** The same as in `holdfast run`: what it hands to its command proves the lease. */
const FROM_RUN = ['HOLDFAST_TASK_ID', 'HOLDFAST_LEASE_ID', 'HOLDFAST_FENCING_TOKEN'] as const;

export function guardCommand(): Command {
  const command = remoteCommand(
    'guard',
    'Exit with 3 unless the lease is live: for git hooks, CI and deploy scripts',
    'holdfast guard && git push            # inside of holdfast run',
    'holdfast guard 0192… --lease q9O8… --fence 3',
  ).argument('[task]', `the task: ${byIdOrKey} (else HOLDFAST_TASK_ID)`);
  return addLeaseOptions(command)
    .addHelpText(
      'after',
      `
Without options the lease is that of ${FROM_RUN.join(', ')}, which \`holdfast run\` sets,
or else the one that HOLDFAST_EXECUTION_ID holds. A server that cannot be reached gives 1: nobody knows then.`,
    )
    .action(
      connected<LeaseOptions, [string | undefined]>(async (session, options, reference) => {
        const named = reference ?? process.env.HOLDFAST_TASK_ID;
        if (!named) throw new UsageError('which task? Name it, or set HOLDFAST_TASK_ID');
        const id = await taskId(session, named);
        const proof = givenProof(options) ?? proofOfRun(id) ?? (await ownProof(session, id));
        const executionId = await session.writer();
        const { holdfast, out, project } = session;
        const answer = await holdfast.leases.checkLease({
          project,
          taskId: id,
          executionId,
          ...(proof && { proof }),
        });
        const { rejection, live } = answer;
        if (!live) process.exitCode = ExitCode.REFUSED;
        out.result(CheckLeaseResponseSchema, answer, () => (live ? 'The lease is live.' : ''));
        if (live) return;
        const why = rejection ? `${WriteCode[rejection.code]}: ${rejection.advice}` : 'No lease was proved.';
        out.note(`Stop: the lease on task ${id} is not live. ${why}`);
      }),
    );
}

function proofOfRun(taskId: string) {
  const [ofTask, leaseId, fencingToken] = FROM_RUN.map((name) => process.env[name]);
  if (ofTask !== taskId || !leaseId || !fencingToken) return undefined;
  return { leaseId, fencingToken: BigInt(fencingToken) };
}
