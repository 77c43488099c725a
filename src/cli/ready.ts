import { type ListReadyTasksResponse, ListReadyTasksResponseSchema } from '@holdfast/proto/task';
import type { Command } from 'commander';
import { asGiven, each, integer } from './arguments.js';
import { connected, remoteCommand } from './command.js';
import type { Output } from './output.js';
import { noteMore, readPages } from './pages.js';
import { planId } from './references.js';
import { joinSections, taskTable } from './task-text.js';

interface Options {
  plan?: string;
  label?: string[];
  assignee?: string;
  explain?: boolean;
  limit: number;
}

export function readyCommand(): Command {
  return remoteCommand(
    'ready',
    'List the tasks that can be claimed now, best first',
    'holdfast ready --label backend',
    'holdfast ready --explain',
  )
    .option('--plan <plan>', 'only steps of this plan')
    .option('--label <label>', 'only with this label; may be given again', each(asGiven))
    .option('--assignee <principal>', 'only meant for this principal')
    .option('--explain', 'also say of the other unfinished tasks why they are not ready')
    .option('--limit <number>', 'at most so many', integer(1), 100)
    .action(
      connected<Options>(async (session, { plan, label, assignee, explain, limit }) => {
        const { holdfast, out, project } = session;
        const filter = {
          project,
          planId: await planId(session, plan),
          labels: label ?? [],
          assignee: assignee ?? '',
          explain: explain ?? false,
        };
        const answer = await readPages(
          limit,
          (page) => holdfast.tasks.listReadyTasks({ ...filter, ...page }),
          ({ tasks }) => tasks,
        );
        out.result(ListReadyTasksResponseSchema, answer, () => readyText(answer, out));
        noteMore(session, answer, limit);
      }),
    );
}

function readyText({ tasks, notReady }: ListReadyTasksResponse, out: Output): string {
  const ready = taskTable(out, tasks, 'Nothing is ready.');
  if (notReady.length === 0) return ready;
  const others = out.table(notReady, [
    ['NOT READY', (task) => task.taskId],
    ['WHY', (task) => task.reason],
    ['TITLE', (task) => task.title],
  ]);
  return joinSections(ready, others);
}
