import { create } from '@bufbuild/protobuf';
import { AddDependencyResponseSchema } from '@holdfast/proto/task';
import type { Command } from 'commander';
import { connected, remoteCommand } from '../command.js';
import { addGuardedOptions, type GuardedOptions, guardedWrite } from '../guarded-write.js';
import { byIdOrKey, taskId } from '../references.js';
import { taskLine } from '../task-text.js';

interface Options extends GuardedOptions {
  remove?: boolean;
  acceptDropped?: boolean;
}

export function taskDep(): Command {
  const command = remoteCommand(
    'dep',
    'Make a task wait for another one, or no longer',
    'holdfast task dep key:deploy key:build',
    'holdfast task dep key:deploy key:build --remove',
  )
    .argument('<task>', `the task that waits: ${byIdOrKey}`)
    .argument('<blocked by>', 'the task it waits for')
    .option('--remove', 'it no longer waits')
    .option('--accept-dropped', 'it goes on, too, when the other one is dropped');
  return addGuardedOptions(command).action(
    connected<Options, [string, string]>(async (session, options, waiting, awaited) => {
      const { holdfast, out } = session;
      const edge = {
        ...(await guardedWrite(session, waiting, options)),
        blockedBy: await taskId(session, awaited),
        requestId: crypto.randomUUID(),
      };
      const { task } = options.remove
        ? await holdfast.tasks.removeDependency(edge)
        : await holdfast.tasks.addDependency({ ...edge, acceptDropped: options.acceptDropped ?? false });
      // Both answers have the one field.
      const answer = create(AddDependencyResponseSchema, task ? { task } : {});
      out.result(AddDependencyResponseSchema, answer, () => taskLine(task, out.style));
    }),
  );
}
