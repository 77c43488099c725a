import { TOOLSET_NAMES, type ToolsetName } from '@holdfast/mcp';
import { type Command, Option } from 'commander';
import { milliseconds } from './arguments.js';
import { connected, remoteCommand } from './command.js';
import { mcpHook } from './mcp/hook.js';
import { mcpInstall } from './mcp/install.js';
import { onSignals } from './signals.js';

interface Options {
  tools: ToolsetName;
  idle: number;
}

export function mcpCommand(): Command {
  return remoteCommand(
    'mcp',
    'Let an agent work the queue over MCP, on stdin and stdout',
    'claude mcp add holdfast -e HOLDFAST_TOKEN=hf_… -- holdfast mcp',
  )
    .addOption(
      new Option('--tools <names>', 'the names of the tools: holdfast, or those of marq or seamless')
        .choices(TOOLSET_NAMES)
        .default('holdfast'),
    )
    .addOption(
      new Option('--idle <time>', "how long after the agent's last call its leases are still renewed")
        .argParser(milliseconds)
        .default(30 * 60_000, '30m'),
    )
    .addHelpText(
      'after',
      `
An MCP client starts this and ends it: when stdin ends, all that the agent held is free at once. When it is killed,
its leases run out by themselves. Logs go to stderr.`,
    )
    .addCommand(mcpInstall())
    .addCommand(mcpHook())
    .action(
      connected<Options>(async (session, options) => {
        // With all of its tools it is much to load: not for help, and not for a hook.
        const { serveOverStdio, TOOLSETS } = await import('@holdfast/mcp');
        const stopping = new AbortController();
        const stopListening = onSignals(() => stopping.abort());
        try {
          await serveOverStdio({
            holdfast: session.holdfast,
            project: session.project,
            executionId: session.givenExecution,
            toolset: TOOLSETS[options.tools],
            idleMs: options.idle,
            signal: stopping.signal,
            onError: (error) => session.out.note(`mcp: ${error.message}`),
          });
        } finally {
          stopListening();
        }
      }),
    );
}
