import { EndExecutionResponseSchema } from '@holdfast/proto/lease';
import type { Command } from 'commander';
import { connected, remoteCommand } from './command.js';
import { UsageError } from './exit.js';
import { counted } from './text.js';

export function endExecutionCommand(): Command {
  return remoteCommand(
    'end-execution',
    'End an execution and all its leases; it can acquire nothing more',
    'holdfast end-execution',
    'holdfast end-execution run-42',
  )
    .argument('[execution]', 'which one (else --execution or HOLDFAST_EXECUTION_ID)')
    .action(
      connected<object, [string | undefined]>(
        async ({ holdfast, out, project, givenExecution }, _options, named) => {
          const executionId = named ?? givenExecution;
          if (!executionId) throw new UsageError('which execution? Name it, or set HOLDFAST_EXECUTION_ID');
          const answer = await holdfast.leases.endExecution({ project, executionId });
          out.result(EndExecutionResponseSchema, answer, () => {
            const before = answer.alreadyEnded ? ' It was ended before.' : '';
            return `Ended execution ${executionId}, and with it ${counted(answer.released.length, 'lease')}.${before}`;
          });
        },
      ),
    );
}
