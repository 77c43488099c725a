import { Command } from 'commander';
import { reporting } from './command.js';
import type { SeedOptions } from './demo/seed.js';
import { UsageError } from './exit.js';

interface Options extends SeedOptions {
  against?: string;
  mcp?: boolean;
  seed?: boolean;
  serve?: boolean;
  port: string;
  host?: string;
}

export function demoCommand(): Command {
  return new Command('demo')
    .description('See two agents race for a step, one die, and a late write refused')
    .option('--against <url>', 'on this running server, in a project of its own that stays (owner only)')
    .option('--mcp', 'the agents use MCP, each through a `holdfast mcp` of its own')
    .option('--seed', 'instead: make a plan with two steps for two real agents, and print their prompt')
    .option('--tokens', 'with --seed: also make a token for each of them, printed once (admin only)')
    .option('--serve', 'instead: agents that work plans until Ctrl-C, to be watched in the dashboard')
    .option('--port <port>', 'with --serve: where the dashboard is; 0 for any free one', '7420')
    .option('--host <address>', 'with --serve: the address to listen on, instead of this machine only')
    .option('--project <id>', "with --seed: the project (else HOLDFAST_PROJECT, else the token's)")
    .option('--token <token>', "your token there (else HOLDFAST_TOKEN, else the local server's own)")
    .option('--json', 'print one JSON document, for programs')
    .addHelpText(
      'after',
      `
The demo starts a server of its own with an embedded Postgres, and two agents as processes that call it like any
client; with --mcp they know nothing but the tools of \`holdfast mcp\`. It takes a few seconds, needs no network, and
leaves nothing behind.
  1. Both agents reach for the same step. One is granted its lease; the other is refused, told who holds it, and
     takes the other step.
  2. The holder leaves a note and is killed. Its lease runs out by itself; the other agent is granted the step with
     the note, and a higher fencing token.
  3. The killed agent comes back and completes its step with the old token. That is refused: STALE_LOCK.
What the server answered and what its history tells are compared with this story: exit code 0 only when all of it
happened, else 1 and what differed.

Examples:
  $ holdfast demo
  $ holdfast demo --mcp
  $ holdfast demo --against http://localhost:7420
  $ holdfast demo --json | jq '.scenes[] | {name, ok}'
  $ holdfast demo --seed --tokens
  $ holdfast demo --serve`,
    )
    .action(
      reporting<Options>(async (options) => {
        process.exitCode = await run(options);
      }),
    );
}

async function run({ against, seed: seeding, serve, port, host, ...options }: Options): Promise<number> {
  if (serve) {
    if (against || seeding || options.token) {
      throw new UsageError('--serve runs a server of its own: leave --against, --seed and --token away');
    }
    const { serveForever } = await import('./demo/serve-forever.js');
    return serveForever({ port, json: options.json === true, ...(host !== undefined && { host }) });
  }
  if (!seeding) {
    if (options.tokens) throw new UsageError('--tokens goes with --seed');
    if (options.project) throw new UsageError('--project goes with --seed; the demo makes its own');
    if (options.token && !against) throw new UsageError('--token goes with --against or --seed');
    const { runDemo } = await import('./demo/run-demo.js');
    return runDemo({ ...options, ...(against ? { against } : {}) });
  }
  if (options.mcp) throw new UsageError('--mcp goes without --seed: the agents of the seed are your own');
  const { seed } = await import('./demo/seed.js');
  await seed({ ...options, ...(against ? { url: against } : {}) });
  return 0;
}
