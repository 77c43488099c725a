import type { WriteCode } from './event.js';
import { describeSpan, type Micros } from './instant.js';
import type { Problem, WriteRejection } from './problem.js';
import { liveLease, type TaskState } from './task-state.js';

/** The complaint with everything a writer needs to act on it. */
export function rejection(code: WriteCode, state: TaskState, now: Micros): WriteRejection {
  const live = liveLease(state, now);
  const remaining = live ? live.expiresAt - now : 0;
  const advice: Record<WriteCode, string> = {
    LOCK_REQUIRED: live
      ? 'Send the proof (lease_id and fencing_token) of the lease you hold with this write.'
      : 'Acquire the task first, then send the proof (lease_id and fencing_token) with this write.',
    LOCK_EXPIRED:
      'Your lease is over. Stop, acquire the task again, read its notes, and write with the new proof.',
    LOCKED_BY_OTHER: live
      ? `${live.holder.principal} (${live.holder.executionId}) holds this task for another ${describeSpan(remaining)}. ` +
        'Do not write; take another ready task, or try again later.'
      : 'Somebody else holds this task. Take another ready task.',
    STALE_LOCK:
      'Your lease was taken over or taken away. Stop working on this task and discard your changes to it.',
  };
  return {
    code,
    taskId: state.taskId,
    fencingToken: state.fencingToken,
    ...(live && { live: { holder: live.holder, expiresAt: live.expiresAt, remaining } }),
    advice: advice[code],
  };
}

export function rejected(code: WriteCode, state: TaskState, now: Micros): Problem {
  return { kind: 'WRITE_REJECTED', rejection: rejection(code, state, now) };
}

const LONGEST_RETRY_AFTER: Micros = 60_000_000;

/**
 * When asking again makes sense: at the deadline, but not later than a minute from now, since holders
 * release early; spread by up to a fifth so that those who wait do not come back together.
 *
 * @param chance a random number in [0, 1)
 */
export function retryAfter(remaining: Micros, chance: number): Micros {
  const base = Math.min(Math.max(remaining, 100_000), LONGEST_RETRY_AFTER);
  return Math.ceil(base * (1 + chance / 5));
}
