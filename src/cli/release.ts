import { LeaseState } from '@holdfast/proto/guard';
import { ReleaseLeaseResponseSchema } from '@holdfast/proto/lease';
import type { Command } from 'commander';
import { connected, remoteCommand } from './command.js';
import { inputText } from './input-text.js';
import { addLeaseOptions, type LeaseOptions, requiredProof } from './own-lease.js';
import { byIdOrKey, taskId } from './references.js';

interface Options extends LeaseOptions {
  note?: string;
}

export function releaseCommand(): Command {
  const command = remoteCommand(
    'release',
    'Give your lease back, so that others can take the task',
    'holdfast release 0192… --note "needs a Windows machine"',
  )
    .argument('<task>', byIdOrKey)
    .option('--note <text>', 'kept on the task for the next holder; - reads stdin');
  return addLeaseOptions(command).action(
    connected<Options, [string]>(async (session, options, reference) => {
      const { holdfast, out, project } = session;
      const id = await taskId(session, reference);
      const proof = await requiredProof(session, id, options);
      const note = await inputText(options.note);
      const answer = await holdfast.leases.releaseLease({ project, ...proof, note });
      out.result(ReleaseLeaseResponseSchema, answer, () => {
        const state = LeaseState[answer.lease?.state ?? LeaseState.RELEASED];
        return answer.alreadyEnded ? `The lease on ${id} was over before: ${state}.` : `Released ${id}.`;
      });
    }),
  );
}
