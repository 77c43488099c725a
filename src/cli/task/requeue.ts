import { RequeueTaskResponseSchema } from '@holdfast/proto/task';
import type { Command } from 'commander';
import { connected, remoteCommand } from '../command.js';
import { byIdOrKey, taskId } from '../references.js';
import { taskLine } from '../task-text.js';

interface Options {
  reason?: string;
}

export function taskRequeue(): Command {
  return remoteCommand(
    'requeue',
    'Put a quarantined task back, as a person who looked at it',
    'holdfast task requeue 0192… --reason "the disk was full; it is not any more"',
  )
    .argument('<task>', byIdOrKey)
    .option('--reason <text>', 'why it is safe to try again')
    .action(
      connected<Options, [string]>(async (session, { reason = '' }, reference) => {
        const { holdfast, out, project } = session;
        const answer = await holdfast.tasks.requeueTask({
          project,
          taskId: await taskId(session, reference),
          reason,
        });
        out.result(RequeueTaskResponseSchema, answer, () => taskLine(answer.task, out.style));
      }),
    );
}
