import { UpdatePlanResponseSchema } from '@holdfast/proto/task';
import type { Command } from 'commander';
import { asGiven, each } from '../arguments.js';
import { connected, remoteCommand } from '../command.js';
import { UsageError } from '../exit.js';
import { inputText } from '../input-text.js';
import { byIdOrKey, planId, taskIds } from '../references.js';
import { oneLine } from '../text.js';

interface Options {
  title?: string;
  body?: string;
  step?: string[];
}

export function planUpdate(): Command {
  return remoteCommand(
    'update',
    "Change a plan's title, text or the order of its steps",
    'holdfast plan update 0192… --title "Release 1.3"',
    'holdfast plan update key:PLAN.md#Setup --step key:PLAN.md#Setup/Build --step key:PLAN.md#Setup/Install',
  )
    .argument('<plan>', byIdOrKey)
    .option('--title <title>', 'the new title')
    .option('--body <text>', 'the new text; - reads stdin')
    .option('--step <task>', 'a step; name all of them, in their new order', each(asGiven))
    .action(
      connected<Options, [string]>(async (session, { title, body, step }, reference) => {
        if (title === undefined && body === undefined && step === undefined)
          throw new UsageError('change what? Give --title, --body or all steps with --step');
        const { holdfast, out, project } = session;
        const answer = await holdfast.tasks.updatePlan({
          project,
          planId: await planId(session, reference),
          ...(title === undefined ? {} : { title }),
          ...(body === undefined ? {} : { body: await inputText(body) }),
          stepIds: await taskIds(session, step),
          executionId: await session.writer(),
        });
        const { plan } = answer;
        out.result(UpdatePlanResponseSchema, answer, () =>
          plan ? `${plan.id}  ${plan.stepsDone}/${plan.stepsTotal}  ${oneLine(plan.title)}` : '',
        );
      }),
    );
}
