import { TaskStatus } from '@holdfast/proto/task';
import { plansOf } from './checklist-plans.js';
import { fileTask, type ReadOptions, type TaskFile } from './task-file.js';
import { unlinkFinished } from './task-graph.js';

/** Reads a Markdown checklist: its plans with their steps, nested items as sub-tasks of those they are in. */
export function readChecklist(text: string, { name, planTitle }: ReadOptions): TaskFile {
  const { plans, errors } = plansOf(text, name, planTitle ?? name.replace(/\.\w+$/, ''));
  const tasks = plans.flatMap(({ externalKey: plan, title: planTitle, steps }) =>
    steps.map(({ done, ...step }) =>
      fileTask({
        ...step,
        plan,
        planTitle,
        status: done ? TaskStatus.DONE : TaskStatus.OPEN,
        result: done ? `Checked off in ${name}.` : '',
      }),
    ),
  );
  // Of checked items with unchecked ones in them: the inner ones are then steps of their own.
  unlinkFinished(tasks);
  if (tasks.length === 0 && errors.length === 0) {
    errors.push({
      line: 1,
      message: 'there are no checklist items. One looks like this: - [ ] Write the parser',
    });
  }
  return { tasks, errors, notes: [], updates: ['title', 'body'] };
}
