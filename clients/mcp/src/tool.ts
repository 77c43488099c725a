import type { Clock, Holdfast } from '@holdfast/client';
import type { z } from 'zod';
import type { Executions } from './executions.js';
import type { Holdings } from './holdings.js';

/** What the tools are called, where one's text tells of another. */
export interface ToolNames {
  readonly acquireNext: string;
  readonly acquire: string;
  readonly renew: string;
  readonly release: string;
  readonly complete: string;
  readonly create: string;
}

/** One call of a tool. */
export interface ToolCall {
  readonly holdfast: Holdfast;
  /** Empty: the token's. */
  readonly project: string;
  readonly executions: Executions;
  /** The execution it acts as; empty where it names none and the connection has none of its own. */
  readonly executionId: string;
  /** What that execution holds. A tool that grants or ends a lease changes it. */
  holdings: Holdings;
  readonly names: ToolNames;
  readonly clock: Clock;
  /** Fires when the client no longer waits for the answer. */
  readonly signal: AbortSignal;
  /** Fires when nothing should be waited for any longer: the client is gone, or the server stops. */
  readonly waiting: AbortSignal;
  /** Tells the client how far the call is, if it wants to know. */
  progress(done: number, total: number, message: string): Promise<void>;
}

/** A tool as MCP clients see it, and what it does. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  /** One or two short sentences: they cost every session tokens. */
  readonly description: string;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  readonly hints: ToolHints;
  /** Whether it cannot do without an execution: then a call on a connection without one must name it. */
  readonly needsExecution: boolean;
  /** @param args what passed `input` */
  run(call: ToolCall, args: never): Promise<Record<string, unknown>>;
}

/** What a client may rely on before it asks its user. */
interface ToolHints {
  readonly readOnly?: true;
  /** It may undo or overwrite something. */
  readonly destructive?: true;
  /** Again with the same arguments changes nothing more. */
  readonly idempotent?: true;
}

/** Ties the types of a tool's schemas to its function. */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  tool: Omit<Tool, 'run' | 'input' | 'output'> & {
    input: Input;
    output: Output;
    run(call: ToolCall, args: z.output<Input>): Promise<z.input<Output>>;
  },
): Tool {
  return tool as unknown as Tool;
}
