import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { ExitCode } from './cli/exit.js';
import { packageFile } from './package-file.js';

type Load = () => Promise<Command>;

/** The subcommands. Each is loaded only when it is asked for, or when help must name them all. */
const subcommands: Record<string, { group: string; load: Load }> = {
  serve: { group: 'Server:', load: async () => (await import('./cli/serve.js')).serveCommand() },
  dashboard: {
    group: 'Server:',
    load: async () => (await import('./cli/dashboard.js')).dashboardCommand(),
  },
  admin: { group: 'Server:', load: async () => (await import('./cli/admin.js')).adminCommand() },
  demo: { group: 'Server:', load: async () => (await import('./cli/demo.js')).demoCommand() },
  import: { group: 'Tasks:', load: async () => (await import('./cli/import.js')).importCommand() },
  task: { group: 'Tasks:', load: async () => (await import('./cli/task.js')).taskCommand() },
  plan: { group: 'Tasks:', load: async () => (await import('./cli/plan.js')).planCommand() },
  ready: { group: 'Tasks:', load: async () => (await import('./cli/ready.js')).readyCommand() },
  claim: { group: 'Leases:', load: async () => (await import('./cli/claim.js')).claimCommand() },
  renew: { group: 'Leases:', load: async () => (await import('./cli/renew.js')).renewCommand() },
  release: { group: 'Leases:', load: async () => (await import('./cli/release.js')).releaseCommand() },
  run: { group: 'Leases:', load: async () => (await import('./cli/run.js')).runCommand(afterDashes()) },
  worker: {
    group: 'Leases:',
    load: async () => (await import('./cli/worker.js')).workerCommand(afterDashes()),
  },
  'force-release': {
    group: 'Leases:',
    load: async () => (await import('./cli/force-release.js')).forceReleaseCommand(),
  },
  'end-execution': {
    group: 'Leases:',
    load: async () => (await import('./cli/end-execution.js')).endExecutionCommand(),
  },
  guard: { group: 'Leases:', load: async () => (await import('./cli/guard.js')).guardCommand() },
  watch: { group: 'History:', load: async () => (await import('./cli/watch.js')).watchCommand() },
  history: { group: 'History:', load: async () => (await import('./cli/history.js')).historyCommand() },
  inbox: { group: 'History:', load: async () => (await import('./cli/inbox.js')).inboxCommand() },
  report: { group: 'History:', load: async () => (await import('./cli/report.js')).reportCommand() },
  mcp: { group: 'Agents:', load: async () => (await import('./cli/mcp.js')).mcpCommand() },
  whoami: { group: 'Identity:', load: async () => (await import('./cli/whoami.js')).whoamiCommand() },
  token: { group: 'Identity:', load: async () => (await import('./cli/token.js')).tokenCommand() },
  project: { group: 'Identity:', load: async () => (await import('./cli/project.js')).projectCommand() },
};

const commandLine = process.argv.slice(2);
const json = commandLine.includes('--json');

function afterDashes(): string[] {
  const at = commandLine.indexOf('--');
  return at < 0 ? [] : commandLine.slice(at + 1);
}

async function buildProgram(): Promise<Command> {
  const program = new Command('holdfast')
    .description(
      'Lets many agents work one task queue: leases, fencing tokens, a history that misses nothing.',
    )
    .version(version(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print help for a command')
    .addHelpText('after', '\nExit codes: 0 done, 1 failed, 2 wrong usage, 3 refused.')
    // A subcommand's options are its own, also where its parent has one of the same name.
    .enablePositionalOptions()
    .exitOverride();
  if (json) program.configureOutput({ outputError: () => {} });
  const named = commandLine.find((word) => word !== 'help' && !word.startsWith('-')) ?? '';
  const asked = Object.hasOwn(subcommands, named) ? [named] : Object.keys(subcommands);
  for (const name of asked) {
    const { group, load } = subcommands[name] as (typeof subcommands)[string];
    const subcommand = await load();
    inheritSettings(subcommand, program);
    program.addCommand(subcommand.helpGroup(group));
  }
  return program;
}

// Commander does this only for subcommands that it makes itself.
function inheritSettings(command: Command, parent: Command): void {
  command.copyInheritedSettings(parent);
  for (const subcommand of command.commands) inheritSettings(subcommand, command);
}

function version(): string {
  const { version } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'));
  return version;
}

async function main(): Promise<void> {
  const program = await buildProgram();
  if (commandLine.length === 0) {
    program.outputHelp();
    return;
  }
  const runsAnother = commandLine[0] === 'run' || commandLine[0] === 'worker';
  const ownWords = afterDashes().length > 0 && runsAnother ? beforeDashes() : commandLine;
  await program.parseAsync(ownWords, { from: 'user' });
}

function beforeDashes(): string[] {
  return commandLine.slice(0, commandLine.indexOf('--'));
}

// `holdfast history | head` closes the pipe early: that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(ExitCode.DONE);
});

try {
  await main();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  // Help and version, asked for, arrive here too, with 0.
  process.exitCode = error.exitCode === 0 ? ExitCode.DONE : ExitCode.USAGE;
  if (json && error.exitCode !== 0) {
    process.stderr.write(`${JSON.stringify({ error: { code: 'USAGE', message: error.message } })}\n`);
  }
}
