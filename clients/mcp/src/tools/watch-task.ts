import { watch } from '@holdfast/client';
import type { Event } from '@holdfast/proto/history';
import { z } from 'zod';
import { executionId, part, parts, taskId } from '../fields.js';
import { standingFields } from '../standing.js';
import { defineTool, type ToolCall } from '../tool.js';
import { eventView, taskView } from '../views.js';

const LONGEST_WAIT_SECONDS = 50;
const PROGRESS_EVERY_MS = 5_000;

export const watchTask = defineTool({
  name: 'watch_task',
  title: 'Wait for a change',
  description: 'Waits until something happens to a task. Send after of the last answer to miss nothing.',
  input: z.strictObject({
    task_id: taskId,
    wait_seconds: z.number().int().min(1).max(LONGEST_WAIT_SECONDS).describe('30 by default').optional(),
    after: z.string().max(256).optional(),
    execution_id: executionId,
  }),
  output: z.object({
    changed: z.boolean(),
    events: parts,
    task: part,
    after: z.string().optional(),
    ...standingFields,
  }),
  hints: { readOnly: true, idempotent: true },
  needsExecution: false,
  async run(call, args) {
    const { holdfast, project } = call;
    // Also says at once when there is no such task.
    await holdfast.tasks.getTask({ project, taskId: args.task_id });
    const { changed, events, after } = await firstChange(
      call,
      args.task_id,
      args.after,
      args.wait_seconds ?? 30,
    );
    const { task } = await holdfast.tasks.getTask({ project, taskId: args.task_id });
    return {
      changed,
      events: events.map(eventView),
      task: task ? taskView(task) : {},
      ...(after && { after }),
    };
  },
});

interface Change {
  changed: boolean;
  events: Event[];
  /** Resumes the watch after all that was told. */
  after: string | undefined;
}

/** Waits for the first event, and takes what is told together with it. */
async function firstChange(
  call: ToolCall,
  id: string,
  resumeAfter: string | undefined,
  seconds: number,
): Promise<Change> {
  const stop = new AbortController();
  const signal = AbortSignal.any([call.waiting, stop.signal]);
  const cancelEnd = call.clock.after(seconds * 1_000, () => stop.abort());
  const ticking = setInterval(() => void keepGoing(call, started, seconds), PROGRESS_EVERY_MS);
  const started = call.clock.now().monotonicMs;
  const change: Change = { changed: false, events: [], after: resumeAfter };
  const wanted = { project: call.project, taskIds: [id], ...(resumeAfter && { resumeAfter }) };
  try {
    for await (const news of watch(call.holdfast, { ...wanted, signal, clock: call.clock })) {
      if (news.kind === 'event') change.events.push(news.event);
      // Events were missed: something happened, though nobody can say what.
      if (news.kind === 'event' || news.kind === 'gap') change.changed = true;
      if ('resumeToken' in news) {
        change.after = news.resumeToken;
        if (change.changed) break;
      }
    }
  } finally {
    clearInterval(ticking);
    cancelEnd();
  }
  call.signal.throwIfAborted();
  return change;
}

/** Waiting is being at work: the client is told of it, and the leases are renewed. */
async function keepGoing(call: ToolCall, started: number, seconds: number): Promise<void> {
  const passed = Math.round((call.clock.now().monotonicMs - started) / 1_000);
  await call.progress(Math.min(passed, seconds), seconds, 'nothing has changed yet').catch(() => {});
  if (call.executionId === '') return;
  await call.executions.active(call.executionId).then(
    (holdings) => {
      call.holdings = holdings;
    },
    () => {},
  );
}
