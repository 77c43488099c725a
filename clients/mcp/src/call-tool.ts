import { systemClock } from '@holdfast/client';
import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server';
import type { Bridge } from './bridge.js';
import { type Holdings, nothingHeld } from './holdings.js';
import { readArguments } from './schema.js';
import { standing } from './standing.js';
import type { Tool, ToolCall } from './tool.js';
import { ToolFailure, trouble } from './trouble.js';

/** Runs a tool for a client. Never throws: a failure is an answer, too. */
export async function callTool(
  bridge: Bridge,
  tool: Tool,
  given: unknown,
  context: ServerContext,
): Promise<CallToolResult> {
  const { names } = bridge.toolset;
  try {
    const args = readArguments(tool.name, tool.input, given) as Record<string, unknown>;
    const call = await begin(bridge, tool, args, context);
    const answer = await tool.run(call, args as never);
    const told = { ...answer, ...standing(call, taskOf(args, answer)) };
    return { structuredContent: told, content: [{ type: 'text', text: JSON.stringify(told) }] };
  } catch (error) {
    return { isError: true, content: [{ type: 'text', text: trouble(error, tool.name, names) }] };
  }
}

/** Works out on behalf of whom the call acts, and renews what that execution holds: it is at work. */
async function begin(
  { holdfast, project, executions, toolset: { names }, stopping, clock = systemClock }: Bridge,
  tool: Tool,
  args: Record<string, unknown>,
  context: ServerContext,
): Promise<ToolCall> {
  const executionId = executions.of(args.execution_id as string | undefined) ?? '';
  if (executionId === '' && tool.needsExecution) {
    throw new ToolFailure(
      `Send execution_id with ${tool.name}: the one that ${names.acquireNext} or ${names.acquire} answered.`,
    );
  }
  const { mcpReq } = context;
  return {
    holdfast,
    project,
    executions,
    executionId,
    names,
    clock,
    holdings: executionId === '' ? nothingHeld() : await holdingsOf(executions, executionId, tool),
    signal: mcpReq.signal,
    waiting: stopping ? AbortSignal.any([mcpReq.signal, stopping]) : mcpReq.signal,
    async progress(done, total, message) {
      const progressToken = mcpReq._meta?.progressToken;
      if (progressToken === undefined) return;
      const params = { progressToken, progress: done, total, message };
      await mcpReq.notify({ method: 'notifications/progress', params });
    },
  };
}

/** Who may only read holds nothing; and a read answers even when renewing fails. */
async function holdingsOf(
  executions: Bridge['executions'],
  executionId: string,
  tool: Tool,
): Promise<Holdings> {
  const renewing = executions.active(executionId);
  return tool.hints.readOnly ? renewing.catch(nothingHeld) : renewing;
}

/** The task that a call is about: what it tells of leases is told of that one's. */
function taskOf(args: Record<string, unknown>, answer: Record<string, unknown>): string | undefined {
  return (args.task_id ?? args.id ?? (answer.task as { id?: string } | undefined)?.id) as string | undefined;
}
