import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { queueFilter } from './acquire-options.js';
import { asGiven, each, integer, milliseconds } from './arguments.js';
import { connected, remoteCommand } from './command.js';
import { ExitCode, UsageError } from './exit.js';
import { ENVIRONMENT_HELP } from './held-command.js';
import { onSignals } from './signals.js';
import { counted } from './text.js';
import { work } from './worker/worker.js';

interface Options {
  once?: boolean;
  wait: number;
  untilEmpty?: boolean;
  plan?: string;
  label?: string[];
  assignee?: string;
  ttl?: number;
  maxFailures: number;
  grace: number;
}

/** @param commandLine what stood after `--` */
export function workerCommand(commandLine: readonly string[] = []): Command {
  const command = remoteCommand(
    'worker',
    'Take one ready task after the other and run a command on each',
    'holdfast worker -- ./do-task.sh',
    'holdfast worker --plan key:PLAN.md#Setup --until-empty -- ./do-task.sh',
    'holdfast worker --label docs --ttl 30m -- sh -c \'my-agent "$HOLDFAST_TASK_TITLE"\'',
  )
    .usage('[options] -- <command...>')
    .option('--plan <plan>', 'only steps of this plan')
    .option('--label <label>', 'only with this label; may be given again', each(asGiven))
    .option('--assignee <principal>', 'only meant for this principal')
    .option('--ttl <time>', 'how long a lease lives without renewal, such as 90s or 15m', milliseconds)
    .option('--until-empty', 'exit when nothing is ready and nothing is being worked on')
    .option('--once', 'work on one task, then exit')
    .option('--wait <time>', 'with --once: how long to wait for a task', milliseconds, 0)
    .option(
      '--max-failures <number>',
      'after so many failures on one task, leave it to others',
      integer(1),
      3,
    )
    .addOption(
      new Option('--grace <time>', 'when stopped: how long the command may go on')
        .argParser(milliseconds)
        .default(10_000, '10s'),
    );
  command.addHelpText(
    'after',
    `
Each lease is kept renewed while the command runs. When the command exits with 0, the task is completed with the end
of its output, at most 64 KiB. Else the task is released, with exit code and the end of stderr as a note for the next
holder; the worker leaves it alone for 1 s, then 2 s and so on, and after --max-failures for good, while it takes other
tasks. The task stays ready for others. A command may also complete or release its task by itself.

${ENVIRONMENT_HELP}
On stdin it gets {"task": …, "lease": …, "continuation": …} as JSON.

When a lease is lost, the command and all its children are stopped (SIGTERM, after 5 s SIGKILL). On SIGTERM or SIGINT
the worker takes no more tasks; the command may go on for --grace, or until the second signal, then it is stopped and
its task released. A worker that is killed leaves its lease to run out: choose --ttl as long as you can wait for that.
A command that outlives it is fenced off by its token: let it write through holdfast, or ask before it acts.

--until-empty goes on while something is leased that would make a task ready. Exit codes: 0 all done or stopped, 1 when
tasks were given up or, with --once, the command failed, 3 with --once when nothing was ready.`,
  );
  return command.action(
    connected<Options>(async (session, options) => {
      if (commandLine.length === 0)
        throw new UsageError('work how? Put the command after --: holdfast worker -- ./do-task.sh');
      session.announceExecution();
      const taking = new AbortController();
      const working = new AbortController();
      const stopListening = onSignals((signal) => {
        if (taking.signal.aborted) working.abort();
        taking.abort(new Error(`stopped by ${signal}`));
        void sleep(options.grace, undefined, { ref: false }).then(() => working.abort());
      });
      try {
        const done = await work(session, commandLine, {
          filter: await queueFilter(session, options),
          ttlMs: options.ttl,
          once: options.once ?? false,
          waitMs: options.wait,
          untilEmpty: options.untilEmpty ?? false,
          mostFailures: options.once ? 1 : options.maxFailures,
          stopTaking: taking.signal,
          stopWorking: working.signal,
        });
        const { completed, givenUp } = done;
        if (session.out.json) process.stdout.write(`${JSON.stringify(done)}\n`);
        const rest = givenUp.length > 0 ? ` Gave up on ${givenUp.join(', ')}.` : '';
        session.out.note(`Completed ${counted(completed.length, 'task')}.${rest}`);
        if (givenUp.length > 0) process.exitCode = ExitCode.FAILED;
      } finally {
        stopListening();
        if (!session.givenExecution) {
          const { holdfast, project } = session;
          await holdfast.leases.endExecution({ project, executionId: holdfast.executionId }).catch(() => {});
        }
      }
    }),
  );
}
