import type { Duration } from '@bufbuild/protobuf/wkt';
import { LeaseState } from '@holdfast/proto/guard';
import { RenewExecutionResponseSchema, RenewLeaseResponseSchema } from '@holdfast/proto/lease';
import type { Command } from 'commander';
import { connected, remoteCommand } from './command.js';
import { UsageError } from './exit.js';
import { leaseEnd } from './grant-text.js';
import { inputText } from './input-text.js';
import { addLeaseOptions, type LeaseOptions, requiredProof } from './own-lease.js';
import { byIdOrKey, taskId } from './references.js';
import type { Session } from './session.js';
import { unmetText } from './task-text.js';
import { duration } from './time-arguments.js';

interface Options extends LeaseOptions {
  ttl?: Duration;
  progress?: string;
}

export function renewCommand(): Command {
  const command = remoteCommand(
    'renew',
    "Extend your lease on a task, or all of your execution's leases",
    'holdfast renew 0192… --progress "half done"',
    'holdfast renew',
  )
    .argument('[task]', `${byIdOrKey}; without it: all tasks of your execution`)
    .option('--ttl <time>', 'how long from now on (else as it was granted for)', duration)
    .option('--progress <text>', 'with a task: a note on how far you are; - reads stdin');
  return addLeaseOptions(command).action(
    connected<Options, [string | undefined]>((session, options, reference) =>
      reference === undefined ? renewAll(session, options) : renewOne(session, options, reference),
    ),
  );
}

async function renewOne(session: Session, options: Options, reference: string): Promise<void> {
  const { holdfast, out, project } = session;
  const id = await taskId(session, reference);
  const answer = await holdfast.leases.renewLease({
    project,
    ...(await requiredProof(session, id, options)),
    progress: await inputText(options.progress),
    ...(options.ttl ? { ttl: options.ttl } : {}),
  });
  out.result(RenewLeaseResponseSchema, answer, () =>
    answer.lease ? `Renewed until ${leaseEnd(answer.lease)}.` : '',
  );
  if (answer.dependenciesUnmet.length > 0) {
    out.note(
      `Dependencies were reopened: finish what can be finished, or release.\n${unmetText(answer.dependenciesUnmet, out.style)}`,
    );
  }
}

async function renewAll(
  { holdfast, out, project, givenExecution }: Session,
  options: Options,
): Promise<void> {
  if (!givenExecution) throw new UsageError('which execution? Set HOLDFAST_EXECUTION_ID, or name a task');
  if (options.progress !== undefined || options.lease !== undefined || options.fence !== undefined) {
    throw new UsageError('--progress, --lease and --fence are about one task; name it');
  }
  const answer = await holdfast.leases.renewExecution({
    project,
    executionId: givenExecution,
    ...(options.ttl ? { ttl: options.ttl } : {}),
  });
  out.result(RenewExecutionResponseSchema, answer, () => {
    const leases = [...answer.renewed, ...answer.lost];
    if (leases.length === 0) return `Execution ${givenExecution} holds no lease.`;
    return out.table(leases, [
      ['TASK', (lease) => lease.taskId],
      ['LEASE', (lease) => LeaseState[lease.state]],
      ['UNTIL', (lease) => (lease.state === LeaseState.ACTIVE ? leaseEnd(lease) : 'LOST: stop that work')],
    ]);
  });
}
