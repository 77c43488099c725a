import { ReopenTaskResponseSchema } from '@holdfast/proto/task';
import type { Command } from 'commander';
import { connected, remoteCommand } from '../command.js';
import { addGuardedOptions, type GuardedOptions, guardedWrite } from '../guarded-write.js';
import { byIdOrKey } from '../references.js';
import { taskLine } from '../task-text.js';
import { counted } from '../text.js';

interface Options extends GuardedOptions {
  reason?: string;
}

export function taskReopen(): Command {
  const command = remoteCommand(
    'reopen',
    'Open a done or dropped task again',
    'holdfast task reopen 0192… --reason "the fix broke the build"',
  )
    .argument('<task>', byIdOrKey)
    .option('--reason <text>', 'why');
  return addGuardedOptions(command).action(
    connected<Options, [string]>(async (session, options, reference) => {
      const { holdfast, out } = session;
      const write = await guardedWrite(session, reference, options);
      const answer = await holdfast.tasks.reopenTask({ ...write, reason: options.reason ?? '' });
      out.result(ReopenTaskResponseSchema, answer, () => taskLine(answer.task, out.style));
      const blocked = answer.blockedAgain;
      if (blocked.length > 0)
        out.note(`${counted(blocked.length, 'task')} wait for it again: ${blocked.join(', ')}`);
    }),
  );
}
