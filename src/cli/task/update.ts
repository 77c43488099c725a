import { UpdateTaskResponseSchema } from '@holdfast/proto/task';
import { type Command, Option } from 'commander';
import { asGiven, each, integer } from '../arguments.js';
import { connected, remoteCommand } from '../command.js';
import { UsageError } from '../exit.js';
import { addGuardedOptions, type GuardedOptions, guardedWrite } from '../guarded-write.js';
import { inputText } from '../input-text.js';
import { byIdOrKey } from '../references.js';
import { taskLine } from '../task-text.js';

interface Options extends GuardedOptions {
  title?: string;
  body?: string;
  priority?: number;
  label?: string[];
  clearLabels?: boolean;
  assignee?: string;
  etag?: string;
}

export function taskUpdate(): Command {
  const command = remoteCommand(
    'update',
    "Change a task's content",
    'holdfast task update 0192… --priority 10 --label urgent',
    'holdfast task update 0192… --assignee ""',
  )
    .argument('<task>', byIdOrKey)
    .option('--title <title>', 'the new title')
    .option('--body <text>', 'the new body; - reads stdin')
    .option('--priority <number>', 'higher first', integer(-(2 ** 31)))
    .option('--label <label>', 'the new labels, all of them; may be given again', each(asGiven))
    .addOption(new Option('--clear-labels', 'take all labels off').conflicts('label'))
    .option('--assignee <principal>', 'whom it is meant for; "" for nobody')
    .option('--etag <etag>', 'only if nobody changed it since: the etag from task show');
  return addGuardedOptions(command).action(
    connected<Options, [string]>(async (session, options, reference) => {
      const change = await changeOf(options);
      const answer = await session.holdfast.tasks.updateTask({
        ...(await guardedWrite(session, reference, options)),
        ...change,
        updateMask: { paths: Object.keys(change) },
        etag: options.etag ?? '',
      });
      session.out.result(UpdateTaskResponseSchema, answer, () => taskLine(answer.task, session.out.style));
    }),
  );
}

// Each field's name here is also its name in the update mask.
async function changeOf({ title, body, priority, label, clearLabels, assignee }: Options) {
  const change = {
    ...(title === undefined ? {} : { title }),
    ...(body === undefined ? {} : { body: await inputText(body) }),
    ...(priority === undefined ? {} : { priority }),
    ...(label || clearLabels ? { labels: label ?? [] } : {}),
    ...(assignee === undefined ? {} : { assignee }),
  };
  if (Object.keys(change).length === 0) {
    throw new UsageError('nothing to change; give --title, --body, --priority, --label or --assignee');
  }
  return change;
}
