import { CreateTaskResponseSchema } from '@holdfast/proto/task';
import type { Command } from 'commander';
import { asGiven, each, integer } from '../arguments.js';
import { connected, remoteCommand } from '../command.js';
import { inputText } from '../input-text.js';
import { planId, taskId, taskIds } from '../references.js';
import { taskLine } from '../task-text.js';

interface Options {
  body?: string;
  priority?: number;
  label?: string[];
  plan?: string;
  blockedBy?: string[];
  parent?: string;
  key?: string;
  assignee?: string;
}

export function taskAdd(): Command {
  return remoteCommand(
    'add',
    'Create a task',
    'holdfast task add "Write the parser" --priority 5 --label backend',
    'git log -1 --format=%b | holdfast task add "Review the last commit" --body -',
  )
    .argument('<title>', 'one line')
    .option('--body <text>', 'free text; - reads stdin')
    .option('--priority <number>', 'higher first', integer(-(2 ** 31)))
    .option('--label <label>', 'may be given again', each(asGiven))
    .option('--plan <plan>', 'append it to this plan')
    .option('--blocked-by <task>', 'it waits for this task; may be given again', each(asGiven))
    .option('--parent <task>', 'it is a sub-task of this one')
    .option('--key <external key>', 'your own id for it, unique in the project')
    .option('--assignee <principal>', 'whom it is meant for')
    .action(
      connected<Options, [string]>(async (session, options, title) => {
        const { holdfast, out, project } = session;
        const created = await holdfast.tasks.createTask({
          project,
          title,
          body: await inputText(options.body),
          priority: options.priority ?? 0,
          labels: options.label ?? [],
          planId: await planId(session, options.plan),
          blockedBy: await taskIds(session, options.blockedBy),
          parentId: options.parent ? await taskId(session, options.parent) : '',
          externalKey: options.key ?? '',
          assignee: options.assignee ?? '',
          executionId: await session.writer(),
          requestId: crypto.randomUUID(),
        });
        out.result(CreateTaskResponseSchema, created, () => taskLine(created.task, out.style));
      }),
    );
}
