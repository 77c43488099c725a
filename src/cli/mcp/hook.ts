import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { remoteCommand, reporting, withSession } from '../command.js';
import { resolveConnection } from '../connection.js';
import { ExitCode, UsageError } from '../exit.js';
import type { Session, SharedOptions } from '../session.js';
import { readSettings } from '../settings.js';
import { forget, type Remembered, recall, remember } from './hook-memory.js';

/** What Claude Code writes to a hook's stdin, as far as we read it. */
interface HookInput {
  session_id?: string;
  hook_event_name?: string;
  tool_name?: string;
  tool_response?: unknown;
}

/** A hook runs after every tool: most of them have nothing to renew yet. In milliseconds. */
const RENEW_EVERY_MS = 20_000;

/** With this exit code Claude Code shows stderr to the agent. */
const TELL_THE_AGENT = 2;

export function mcpHook(): Command {
  return remoteCommand(
    'hook',
    "As a hook of Claude Code: renew the session's leases after each tool, end its execution with it",
    'holdfast mcp hook < event.json',
  )
    .addHelpText(
      'after',
      `
Reads the hook's event on stdin. It learns the session's execution from the answers of the acquire tools, renews its
leases at most every 20 s, and exits with 2 and STOP on stderr, which the agent sees, when one was lost.`,
    )
    .action(async (...args) => {
      let stop = false;
      await reporting<SharedOptions>(async (options) => {
        stop = await runHook(options);
      })(...args);
      // Whatever else went wrong is no word for the agent.
      if (stop) process.exitCode = TELL_THE_AGENT;
      else if (process.exitCode !== undefined) process.exitCode = ExitCode.FAILED;
    });
}

/** @returns whether the agent must be told to stop */
async function runHook(options: SharedOptions): Promise<boolean> {
  // Most hooks have nothing to ask the server; that they could not is said all the same.
  resolveConnection(options, readSettings());
  const event = readEvent(await text(process.stdin));
  const { session_id: sessionId, hook_event_name: name } = event;
  if (!sessionId) throw new UsageError('the event on stdin has no session_id; is this run as a hook?');
  const known = await recall(sessionId);
  if (name === 'SessionEnd') {
    const endAll = (session: Session) =>
      Promise.allSettled(known.executions.map((executionId) => end(session, executionId)));
    if (known.executions.length > 0) await withSession(options, endAll);
    await forget(sessionId);
    return false;
  }
  if (name !== 'PostToolUse') return false;
  const begun = executionsIn(event).filter((id) => !known.executions.includes(id));
  const now = { ...known, executions: [...known.executions, ...begun] };
  const due = now.executions.length > 0 && Date.now() - known.renewedAt >= RENEW_EVERY_MS;
  const stop = due && (await withSession(options, (session) => renew(session, now)));
  if (due || begun.length > 0) await remember(sessionId, now);
  return stop;
}

function readEvent(json: string): HookInput {
  try {
    const event: unknown = JSON.parse(json);
    if (typeof event === 'object' && event !== null) return event;
  } catch {
    // As below.
  }
  throw new UsageError('stdin holds no event; Claude Code writes one when it runs this as a hook');
}

/** The execution that an acquire tool answered. */
function executionsIn({ tool_name: tool = '', tool_response: told }: HookInput): string[] {
  return /^mcp__.*(?:acquire|claim)/.test(tool) ? [...new Set(answeredBy(told))] : [];
}

/**
 * Only what stands in the answer itself, however it is wrapped: in the texts of a task, which are somebody else's word,
 * another run may be named.
 */
function answeredBy(told: unknown): string[] {
  if (typeof told === 'string') {
    try {
      return answeredBy(JSON.parse(told));
    } catch {
      return [];
    }
  }
  if (Array.isArray(told)) return told.flatMap(answeredBy);
  if (typeof told !== 'object' || told === null) return [];
  const { execution_id: id, structuredContent, content, text } = told as Record<string, unknown>;
  if (typeof id === 'string') return id.length > 0 && id.length <= 256 ? [id] : [];
  return [structuredContent, content, text].flatMap(answeredBy);
}

/** @returns whether something was lost that the agent has not been told of; it is told on stderr now */
async function renew({ holdfast, project }: Session, known: Remembered): Promise<boolean> {
  let stop = false;
  known.renewedAt = Date.now();
  for (const executionId of known.executions) {
    const { lost } = await holdfast.leases.renewExecution({ project, executionId });
    for (const { id, taskId } of lost) {
      if (known.told.includes(id)) continue;
      known.told.push(id);
      process.stderr.write(
        `STOP: your Holdfast lease on task ${taskId} is lost. Write nothing more for it; acquire it again or take another task.\n`,
      );
      stop = true;
    }
  }
  return stop;
}

const end = ({ holdfast, project }: Session, executionId: string) =>
  holdfast.leases.endExecution({ project, executionId });
