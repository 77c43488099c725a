import { ForceReleaseLeaseResponseSchema } from '@holdfast/proto/lease';
import type { Command } from 'commander';
import { connected, remoteCommand } from './command.js';
import { byIdOrKey, taskId } from './references.js';
import { holderText } from './task-text.js';
import { oneLine } from './text.js';

interface Options {
  reason: string;
}

export function forceReleaseCommand(): Command {
  return remoteCommand(
    'force-release',
    'As an admin: take the lease away from its holder',
    'holdfast force-release 0192… --reason "the agent hangs"',
  )
    .argument('<task>', byIdOrKey)
    .requiredOption('--reason <text>', 'why; kept in the history')
    .action(
      connected<Options, [string]>(async (session, { reason }, reference) => {
        const { holdfast, out, project } = session;
        const id = await taskId(session, reference);
        const answer = await holdfast.leases.forceReleaseLease({ project, taskId: id, reason });
        out.result(
          ForceReleaseLeaseResponseSchema,
          answer,
          () => `Took the lease on ${id} from ${oneLine(holderText(answer.lease?.holder))}.`,
        );
      }),
    );
}
