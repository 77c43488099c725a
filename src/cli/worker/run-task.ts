import type { HeldLease } from '@holdfast/client';
import { LeaseState } from '@holdfast/proto/guard';
import { startGroup } from '../child-process.js';
import { ExitCode } from '../exit.js';
import { completeHeld, heldEnvironment, heldJson, lost } from '../held-command.js';
import { copyOutput } from '../output-tail.js';
import type { Session } from '../session.js';

/** A task's result may be as long. */
const RESULT_BYTES = 64 * 1_024;
const NOTE_BYTES = 4 * 1_024;

/** How the work on a task ended. `released`: by the command itself, without completing it. */
export type TaskEnd = 'done' | 'failed' | 'released' | 'stopped';

/**
 * Runs a command on a leased task: completes the task with the command's output, or leaves a note of why not. Throws
 * LeaseLost when the lease is lost: the command is stopped then.
 *
 * @param stop stops the command
 */
export async function runTask(
  session: Session,
  held: HeldLease,
  [program = '', ...args]: readonly string[],
  stop: AbortSignal,
): Promise<TaskEnd> {
  const group = startGroup(program, [...args], heldEnvironment(session, held), ['pipe', 'pipe', 'pipe']);
  // A command need not read it.
  group.child.stdin?.on('error', () => {});
  group.child.stdin?.end(heldJson(held));
  const output = copyOutput(group.child, RESULT_BYTES);

  const over = new AbortController();
  const stopped = new Promise<'stopped'>((resolve) => {
    if (stop.aborted) resolve('stopped');
    stop.addEventListener('abort', () => resolve('stopped'), { once: true, signal: over.signal });
  });
  try {
    let end = await Promise.race([group.exited, lost(held.signal), stopped]);
    // A lease that the command itself has ended is not lost: it may finish.
    if (end === 'lost' && (await endedByCommand(session, held)))
      end = await Promise.race([group.exited, stopped]);
    if (typeof end === 'string') await group.terminate();
    if (end === 'lost') throw held.signal.reason;

    const byCommand = await endedByCommand(session, held);
    if (byCommand) return byCommand;
    if (end === 'stopped') {
      held.releaseNote = `The worker was stopped while \`${program}\` ran.`;
      return 'stopped';
    }
    const { both, stderr } = await output;
    if (end === ExitCode.DONE) {
      await completeHeld(session, held, both);
      return 'done';
    }
    held.releaseNote = `\`${program}\` ended with exit code ${end}${stderr ? `:\n${endOf(stderr)}` : '.'}`;
    return 'failed';
  } finally {
    over.abort();
  }
}

/** How the lease has ended, if the command ended it. */
async function endedByCommand(
  { holdfast, project }: Session,
  { task, proof, lease }: HeldLease,
): Promise<'done' | 'released' | undefined> {
  const executionId = lease.holder?.executionId ?? '';
  const { lease: newest } = await holdfast.leases.getLease({ project, taskId: task.id, executionId });
  if (!newest || newest.id !== proof.leaseId) return undefined;
  if (newest.state === LeaseState.COMPLETED) return 'done';
  return newest.state === LeaseState.RELEASED ? 'released' : undefined;
}

/** The end of a text, never from within a character. */
function endOf(text: string): string {
  return Buffer.from(text)
    .subarray(-NOTE_BYTES)
    .toString('utf8')
    .replace(/^\ufffd+/, '');
}
