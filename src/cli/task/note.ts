import { AddNoteResponseSchema } from '@holdfast/proto/task';
import type { Command } from 'commander';
import { connected, remoteCommand } from '../command.js';
import { addGuardedOptions, type GuardedOptions, guardedWrite } from '../guarded-write.js';
import { inputText } from '../input-text.js';
import { byIdOrKey } from '../references.js';

export function taskNote(): Command {
  const command = remoteCommand(
    'note',
    'Leave a note that the next holder should know',
    'holdfast task note 0192… "half done: the parser works, its tests are missing"',
    'git diff --stat | holdfast task note 0192… -',
  )
    .argument('<task>', byIdOrKey)
    .argument('<text>', 'the note; - reads stdin');
  return addGuardedOptions(command).action(
    connected<GuardedOptions, [string, string]>(async (session, options, reference, given) => {
      const { holdfast, out } = session;
      const text = await inputText(given);
      const write = await guardedWrite(session, reference, options);
      const answer = await holdfast.tasks.addNote({ ...write, text, requestId: crypto.randomUUID() });
      out.result(AddNoteResponseSchema, answer, () => `Noted on ${write.taskId}.`);
    }),
  );
}
