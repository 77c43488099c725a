import { explain, InvalidRequest, LeaseLost, WriteRejected } from '@holdfast/client';
import { LeaseState } from '@holdfast/proto/guard';
import type { Lease } from '@holdfast/proto/lease';
import { BadArguments } from './schema.js';
import type { ToolNames } from './tool.js';
import { holderView } from './views.js';

/** A tool could not do what was asked, for a reason that its own text tells. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';
}

/** Of several changes only some were made; the cause says why the next one was not. */
export class PartlyDone extends Error {
  override readonly name = 'PartlyDone';

  constructor(
    readonly done: readonly string[],
    readonly missing: string,
    override readonly cause: unknown,
  ) {
    super(`${missing} failed`);
  }
}

/** What an agent is told of an error: first what to do next. All of it is text; some clients show nothing else. */
export function trouble(error: unknown, tool: string, names: ToolNames): string {
  if (error instanceof BadArguments || error instanceof ToolFailure) return error.message;
  if (error instanceof PartlyDone) {
    const { done, missing, cause } = error;
    return `${trouble(cause, tool, names)} Done before that: ${done.join(', ')}. Not done: ${missing}.`;
  }
  if (error instanceof WriteRejected) return rejected(error, names);
  if (error instanceof InvalidRequest) {
    const faults = error.violations.map(({ field, description }) => `${field} ${description}`);
    return `Correct the arguments and call ${tool} again. ${faults.join('. ')}.`;
  }
  if (error instanceof LeaseLost) return `STOP: ${error.message}. Write nothing more for it.`;
  return `${tool} failed. ${explain(error)}`;
}

function rejected({ code, taskId, holder, advice }: WriteRejected, names: ToolNames): string {
  const by = holder ? ` Now ${holderView(holder)} holds it.` : '';
  const others = `For other work call ${names.acquireNext}.`;
  switch (code) {
    case 'STALE_LOCK':
      return `STOP: your lease on task ${taskId} is lost (STALE_LOCK). Discard your changes to it and write nothing more for it.${by} ${others}`;
    case 'LOCK_EXPIRED':
      return `STOP: your lease on task ${taskId} is over (LOCK_EXPIRED). Nobody took the task: to go on call ${names.acquire} and read its notes before you write. ${others}`;
    case 'LOCKED_BY_OTHER':
      return `Do not write to task ${taskId} (LOCKED_BY_OTHER).${by} ${others}`;
    default:
      return `Call ${names.acquire} for task ${taskId} first, then repeat this call (LOCK_REQUIRED). ${advice}`;
  }
}

/** What an agent is told of a lease it lost, whatever it asked for. */
export function lossText({ taskId, state }: Lease, names: ToolNames): string {
  const how = state === LeaseState.REVOKED ? 'was taken away' : 'ran out';
  return `STOP: your lease on task ${taskId} ${how}. Write nothing more for it unless ${names.acquire} grants it again.`;
}
