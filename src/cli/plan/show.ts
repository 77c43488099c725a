import { GetPlanResponseSchema } from '@holdfast/proto/task';
import type { Command } from 'commander';
import { integer } from '../arguments.js';
import { connected, remoteCommand } from '../command.js';
import { LARGEST_PAGE, noteMore, readPages } from '../pages.js';
import { byIdOrKey, selector } from '../references.js';
import { joinSections, section, taskTable } from '../task-text.js';
import { oneLine } from '../text.js';

interface Options {
  limit: number;
}

export function planShow(): Command {
  return remoteCommand('show', 'Show a plan with its steps in order', 'holdfast plan show key:PLAN.md#Setup')
    .argument('<plan>', byIdOrKey)
    .option('--limit <number>', 'at most so many steps', integer(1), LARGEST_PAGE)
    .action(
      connected<Options, [string]>(async (session, { limit }, reference) => {
        const { holdfast, out, project } = session;
        const answer = await readPages(
          limit,
          (page) => holdfast.tasks.getPlan({ project, ...selector('planId', reference), ...page }),
          ({ steps }) => steps,
        );
        const { plan, steps } = answer;
        out.result(GetPlanResponseSchema, answer, () => {
          const title = plan
            ? `${out.style.bold(oneLine(plan.title))}  ${plan.stepsDone}/${plan.stepsTotal}`
            : '';
          return joinSections(
            title,
            section('Body', plan?.body ?? '', out.style),
            taskTable(out, steps, 'No steps.'),
          );
        });
        noteMore(session, answer, limit);
      }),
    );
}
