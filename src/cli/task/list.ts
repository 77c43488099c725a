import { ListTasksResponseSchema, TaskStatus } from '@holdfast/proto/task';
import type { Command } from 'commander';
import { asGiven, each, enumValue, integer } from '../arguments.js';
import { connected, remoteCommand } from '../command.js';
import { noteMore, readPages } from '../pages.js';
import { planId, taskId } from '../references.js';
import { taskTable } from '../task-text.js';

interface Options {
  status?: TaskStatus[];
  plan?: string;
  label?: string[];
  assignee?: string;
  holder?: string;
  parent?: string;
  limit: number;
}

export function taskList(): Command {
  return remoteCommand(
    'list',
    'List tasks, oldest first',
    'holdfast task list --status open --label backend',
    'holdfast task list --json | jq -r ".tasks[].id"',
  )
    .option(
      '--status <status>',
      'open, in-progress, done, dropped or quarantined; may be given again',
      each(enumValue<TaskStatus>(TaskStatus)),
    )
    .option('--plan <plan>', 'only steps of this plan')
    .option('--label <label>', 'only with this label; may be given again', each(asGiven))
    .option('--assignee <principal>', 'only meant for this principal')
    .option('--holder <principal>', 'only held by this principal')
    .option('--parent <task>', 'only sub-tasks of this task')
    .option('--limit <number>', 'at most so many', integer(1), 100)
    .action(
      connected<Options>(async (session, { status, label, assignee, holder, parent, plan, limit }) => {
        const { holdfast, out, project } = session;
        const filter = {
          project,
          statuses: status ?? [],
          planId: await planId(session, plan),
          labels: label ?? [],
          assignee: assignee ?? '',
          holder: holder ?? '',
          parentId: parent ? await taskId(session, parent) : '',
        };
        const answer = await readPages(
          limit,
          (page) => holdfast.tasks.listTasks({ ...filter, ...page }),
          ({ tasks }) => tasks,
        );
        out.result(ListTasksResponseSchema, answer, () => taskTable(out, answer.tasks, 'No tasks.'));
        noteMore(session, answer, limit);
      }),
    );
}
