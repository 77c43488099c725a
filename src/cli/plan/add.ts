import { CreatePlanResponseSchema } from '@holdfast/proto/task';
import type { Command } from 'commander';
import { connected, remoteCommand } from '../command.js';
import { inputText } from '../input-text.js';
import { oneLine } from '../text.js';

interface Options {
  body?: string;
  key?: string;
}

export function planAdd(): Command {
  return remoteCommand(
    'add',
    'Create a plan; task add --plan appends steps to it',
    'holdfast plan add "Release 2.0" --key release-2.0',
    'holdfast task add "Tag it" --plan key:release-2.0',
  )
    .argument('<title>', 'one line')
    .option('--body <text>', 'free text; - reads stdin')
    .option('--key <external key>', 'your own id for it, unique in the project')
    .action(
      connected<Options, [string]>(async (session, options, title) => {
        const { holdfast, out, project } = session;
        const answer = await holdfast.tasks.createPlan({
          project,
          title,
          body: await inputText(options.body),
          externalKey: options.key ?? '',
          executionId: await session.writer(),
          requestId: crypto.randomUUID(),
        });
        const { plan } = answer;
        out.result(CreatePlanResponseSchema, answer, () =>
          plan ? `${plan.id}  ${oneLine(plan.title)}` : '',
        );
      }),
    );
}
