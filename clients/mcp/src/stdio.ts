import { once } from 'node:events';
import type { Holdfast } from '@holdfast/client';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { OwnExecutions } from './own-executions.js';
import { createMcpServer } from './server.js';
import type { Toolset } from './toolset.js';

/** How one agent is served over stdin and stdout. */
export interface StdioOptions {
  holdfast: Holdfast;
  /** Empty: the token's. */
  project: string;
  /** The execution to act as; absent: a new one. */
  executionId: string | undefined;
  toolset: Toolset;
  /** How long after the agent's last call its leases are still renewed, in milliseconds. */
  idleMs: number;
  /** Ends the serving, as the end of stdin does. */
  signal: AbortSignal;
  /** Told of what went wrong beside the calls; nothing else may be written to stdout. */
  onError: (error: Error) => void;
}

/** Serves one agent until stdin ends, then ends its execution, so that all it held is free at once. */
export async function serveOverStdio(options: StdioOptions): Promise<void> {
  const { holdfast, project, executionId: given, toolset, idleMs, signal, onError } = options;
  const executions = new OwnExecutions({ holdfast, project, given, idleMs });
  const bridge = { holdfast, project, executions, toolset };
  const stopped = new AbortController();
  const stop = () => stopped.abort();
  for (const event of ['end', 'close']) process.stdin.once(event, stop);
  process.stdout.once('error', stop);
  signal.addEventListener('abort', stop, { once: true });
  const serving = serveStdio(() => createMcpServer(bridge), { onerror: onError });
  if (!stopped.signal.aborted && !signal.aborted) await once(stopped.signal, 'abort');
  await serving.close();
  await executions.endAll();
}
