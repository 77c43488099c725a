import { DropTaskResponseSchema } from '@holdfast/proto/task';
import type { Command } from 'commander';
import { connected, remoteCommand } from '../command.js';
import { addGuardedOptions, type GuardedOptions, guardedWrite } from '../guarded-write.js';
import { byIdOrKey } from '../references.js';
import { taskLine } from '../task-text.js';
import { counted } from '../text.js';

interface Options extends GuardedOptions {
  reason?: string;
}

export function taskDrop(): Command {
  const command = remoteCommand(
    'drop',
    'Give a task up: it will not be done',
    'holdfast task drop 0192… --reason "the customer no longer wants it"',
  )
    .argument('<task>', byIdOrKey)
    .option('--reason <text>', 'why');
  return addGuardedOptions(command).action(
    connected<Options, [string]>(async (session, options, reference) => {
      const { holdfast, out } = session;
      const write = await guardedWrite(session, reference, options);
      const answer = await holdfast.tasks.dropTask({ ...write, reason: options.reason ?? '' });
      out.result(DropTaskResponseSchema, answer, () => taskLine(answer.task, out.style));
      const blocked = answer.stillBlocked;
      if (blocked.length > 0) {
        out.note(`${counted(blocked.length, 'task')} still blocked by it: ${blocked.join(', ')}`);
      }
    }),
  );
}
