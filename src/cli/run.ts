import { type HeldLease, withLease } from '@holdfast/client';
import type { Command } from 'commander';
import { acquireOptions, addWantedOptions, type WantedOptions, wanted } from './acquire-options.js';
import { startGroup } from './child-process.js';
import { connected, remoteCommand } from './command.js';
import { ExitCode, UsageError } from './exit.js';
import { completeHeld, ENVIRONMENT_HELP, heldEnvironment, lost } from './held-command.js';
import { copyOutput } from './output-tail.js';
import type { Session } from './session.js';
import { onSignals } from './signals.js';

interface Options extends WantedOptions {
  complete?: boolean;
}

const RESULT_BYTES = 8 * 1_024;

/** @param commandLine what stood after `--` */
export function runCommand(commandLine: readonly string[] = []): Command {
  const command = remoteCommand(
    'run',
    'Run a command while you hold the lease on a task',
    'holdfast run 0192… -- npm test',
    'holdfast run --label backend --wait 10m --complete -- ./work.sh',
  )
    .usage('[options] [task] -- <command...>')
    .option(
      '--complete',
      "when the command succeeds, complete the task with the end of the command's output",
    );
  command.addHelpText(
    'after',
    `
The lease is kept renewed while the command runs, and always released. When it is lost, the command and all
its children are stopped (SIGTERM, after 5 s SIGKILL) and the exit code is 1; else it is the command's own.
${ENVIRONMENT_HELP}`,
  );
  return addWantedOptions(command).action(
    connected<Options, [string | undefined]>(async (session, options, reference) => {
      const [program, ...args] = commandLine;
      if (program === undefined)
        throw new UsageError('run what? Put the command after --: holdfast run -- npm test');
      const what = await wanted(session, reference, options);
      const interrupted = new AbortController();
      // While it waits for the lease. Once the command runs, the signal is the command's, and so is the answer to it.
      const stopListening = onSignals((signal) => interrupted.abort(new Error(`stopped by ${signal}`)));
      try {
        process.exitCode = await withLease(
          session.holdfast,
          what,
          (held) => runHolding(session, held, options, program, args),
          {
            ...acquireOptions(session, options),
            signal: interrupted.signal,
            onReleaseFailed: (error, lease) =>
              session.out.note(
                `The lease on ${lease.taskId} could not be released and runs out by itself: ${error}`,
              ),
          },
        );
      } finally {
        stopListening();
      }
    }),
  );
}

async function runHolding(
  session: Session,
  held: HeldLease,
  { complete = false }: Options,
  program: string,
  args: string[],
): Promise<number> {
  const group = startGroup(
    program,
    args,
    heldEnvironment(session, held),
    complete ? ['inherit', 'pipe', 'pipe'] : 'inherit',
  );
  const tail = complete ? copyOutput(group.child, RESULT_BYTES) : undefined;
  const stopListening = onSignals((signal) => group.signal(signal));
  const status = await Promise.race([group.exited, lost(held.signal)]).finally(stopListening);
  if (status === 'lost') {
    await group.terminate();
    throw held.signal.reason;
  }
  if (status !== ExitCode.DONE) held.releaseNote = `\`${program}\` ended with exit code ${status}`;
  else if (tail) {
    await completeHeld(session, held, (await tail).both);
    session.out.note(`Completed ${held.task.id}.`);
  }
  return status;
}
