import { create } from '@bufbuild/protobuf';
import { acquire, Refused } from '@holdfast/client';
import { AcquireLeaseResponseSchema } from '@holdfast/proto/lease';
import type { Command } from 'commander';
import { acquireOptions, addWantedOptions, type WantedOptions, wanted } from './acquire-options.js';
import { connected, remoteCommand } from './command.js';
import { ExitCode } from './exit.js';
import { grantText, refusalText } from './grant-text.js';

export function claimCommand(): Command {
  const command = remoteCommand(
    'claim',
    'Lease a task: the one you name, or the best ready one',
    'export HOLDFAST_EXECUTION_ID=$(uuidgen)   # then later commands find your lease',
    'holdfast claim --label backend --ttl 30m',
    'holdfast claim 0192… --wait 5m',
  );
  return addWantedOptions(command).action(
    connected<WantedOptions, [string | undefined]>(async (session, options, reference) => {
      const { holdfast, out } = session;
      const what = await wanted(session, reference, options);
      session.announceExecution();
      try {
        const { grant } = await acquire(holdfast, what, acquireOptions(session, options));
        // Both acquires answer with the same two fields.
        const answer = create(AcquireLeaseResponseSchema, { outcome: { case: 'grant', value: grant } });
        out.result(AcquireLeaseResponseSchema, answer, () => grantText(grant, out));
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        const { refusal } = error;
        const answer = create(AcquireLeaseResponseSchema, { outcome: { case: 'refusal', value: refusal } });
        out.result(AcquireLeaseResponseSchema, answer, () => '');
        out.note(refusalText(refusal, out));
        process.exitCode = ExitCode.REFUSED;
      }
    }),
  );
}
