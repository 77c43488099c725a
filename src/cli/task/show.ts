import { GetTaskResponseSchema } from '@holdfast/proto/task';
import type { Command } from 'commander';
import { connected, remoteCommand } from '../command.js';
import { byIdOrKey, selector } from '../references.js';
import { joinSections, notesText, taskText, unmetText } from '../task-text.js';

export function taskShow(): Command {
  return remoteCommand('show', 'Show a task with its notes', 'holdfast task show key:PLAN.md#Setup/Install')
    .argument('<task>', byIdOrKey)
    .action(
      connected<object, [string]>(async ({ holdfast, out, project }, _options, reference) => {
        const answer = await holdfast.tasks.getTask({ project, ...selector('taskId', reference) });
        const { task, notes, unmetDependencies } = answer;
        out.result(GetTaskResponseSchema, answer, () =>
          joinSections(
            task ? taskText(task, out.style) : '',
            unmetText(unmetDependencies, out.style),
            notesText(notes, out.style),
          ),
        );
      }),
    );
}
