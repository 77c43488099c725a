import { Command, Option } from 'commander';
import type { Session, SharedOptions } from './session.js';

/** Begins a command that talks to a server: its purpose in one line, and its examples. */
export function remoteCommand(name: string, purpose: string, ...examples: string[]): Command {
  const lines = examples.map((example) => `  $ ${example}`).join('\n');
  return new RemoteCommand(name).description(purpose).addHelpText('after', `\nExamples:\n${lines}`);
}

// Help lists options in the order of their making: the shared ones come last, with the action.
class RemoteCommand extends Command {
  override action(work: Parameters<Command['action']>[0]): this {
    const shared = (flags: string, text: string) =>
      this.addOption(new Option(flags, text).helpGroup('Shared options:'));
    shared('--json', 'print one JSON document, for programs');
    shared('--project <id>', "the project (else HOLDFAST_PROJECT, else the token's)");
    shared('--execution <id>', 'the execution you act as (else HOLDFAST_EXECUTION_ID, else a new one)');
    shared('--url <url>', 'the server (else HOLDFAST_URL, else http://localhost:7420)');
    shared('--token <token>', "your token (else HOLDFAST_TOKEN, else the local server's own)");
    return super.action(work);
  }
}

/** Begins a command that only has subcommands. */
export function commandGroup(name: string, purpose: string, ...subcommands: Command[]): Command {
  const group = new Command(name).description(purpose);
  for (const subcommand of subcommands) group.addCommand(subcommand);
  return group;
}

/** What a command does, with its options and operands. */
type Work<Options, Operands extends (string | undefined)[]> = (
  options: Options,
  ...operands: Operands
) => Promise<void>;

/** Makes a Commander action of `work`: tells errors and sets the exit code. */
export function reporting<Options extends object, Operands extends (string | undefined)[] = []>(
  work: Work<Options, Operands>,
): (...args: unknown[]) => Promise<void> {
  return async (...args) => {
    const command = args.pop() as Command;
    const options = args.pop() as Options;
    try {
      await work(options, ...(args as Operands));
    } catch (error) {
      const { reportFailure } = await import('./failure.js');
      process.exitCode = reportFailure(error, {
        command: fullName(command),
        json: 'json' in options && options.json === true,
      });
    }
  };
}

/** Opens a session for `work`, and closes it. The client is loaded only here: help does not need it. */
export async function withSession<Result>(
  options: SharedOptions,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  const { openSession } = await import('./session.js');
  const session = await openSession(options);
  try {
    return await work(session);
  } finally {
    session.holdfast.close();
  }
}

/** Makes a Commander action of `work`, which is given a session. */
export function connected<Options = object, Operands extends (string | undefined)[] = []>(
  work: (session: Session, ...given: Parameters<Work<Options, Operands>>) => Promise<void>,
): (...args: unknown[]) => Promise<void> {
  return reporting<Options & SharedOptions, Operands>((options, ...operands) =>
    withSession(options, (session) => work(session, options, ...operands)),
  );
}

function fullName(command: Command): string {
  const parent = command.parent?.parent ? `${fullName(command.parent)} ` : '';
  return parent + command.name();
}
