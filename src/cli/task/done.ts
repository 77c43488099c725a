import { LeaseState } from '@holdfast/proto/guard';
import { CompleteTaskResponseSchema } from '@holdfast/proto/task';
import type { Command } from 'commander';
import { connected, remoteCommand } from '../command.js';
import { addGuardedOptions, type GuardedOptions, guardedWrite } from '../guarded-write.js';
import { inputText } from '../input-text.js';
import { byIdOrKey } from '../references.js';
import { taskLine } from '../task-text.js';
import { counted } from '../text.js';

interface Options extends GuardedOptions {
  result?: string;
}

export function taskDone(): Command {
  const command = remoteCommand(
    'done',
    'Complete a task and end its lease',
    'holdfast task done 0192… --result "merged as 4f2c"',
    'npm test 2>&1 | tail -20 | holdfast task done 0192… --result -',
  )
    .argument('<task>', byIdOrKey)
    .option('--result <text>', 'what came of it, for those who waited; - reads stdin');
  return addGuardedOptions(command).action(
    connected<Options, [string]>(async (session, options, reference) => {
      const { holdfast, out } = session;
      // Completing again with the proof that completed it gives the first answer.
      const write = await guardedWrite(session, reference, options, LeaseState.COMPLETED);
      const result = await inputText(options.result);
      const answer = await holdfast.tasks.completeTask({ ...write, result, requestId: crypto.randomUUID() });
      out.result(CompleteTaskResponseSchema, answer, () => taskLine(answer.task, out.style));
      const ready = answer.becameReady.length;
      if (ready > 0) out.note(`${counted(ready, 'task')} became ready: ${answer.becameReady.join(', ')}`);
    }),
  );
}
