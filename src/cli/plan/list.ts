import { ListPlansResponseSchema } from '@holdfast/proto/task';
import type { Command } from 'commander';
import { integer } from '../arguments.js';
import { connected, remoteCommand } from '../command.js';
import { noteMore, readPages } from '../pages.js';

interface Options {
  limit: number;
}

export function planList(): Command {
  return remoteCommand('list', 'List plans, oldest first', 'holdfast plan list')
    .option('--limit <number>', 'at most so many', integer(1), 100)
    .action(
      connected<Options>(async (session, { limit }) => {
        const { holdfast, out, project } = session;
        const answer = await readPages(
          limit,
          (page) => holdfast.tasks.listPlans({ project, ...page }),
          ({ plans }) => plans,
        );
        out.result(ListPlansResponseSchema, answer, () => {
          if (answer.plans.length === 0) return 'No plans.';
          return out.table(answer.plans, [
            ['ID', (plan) => plan.id],
            ['DONE', (plan) => `${plan.stepsDone}/${plan.stepsTotal}`],
            ['TITLE', (plan) => plan.title],
          ]);
        });
        noteMore(session, answer, limit);
      }),
    );
}
