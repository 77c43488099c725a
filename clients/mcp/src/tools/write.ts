import { LeaseState } from '@holdfast/proto/guard';
import { z } from 'zod';
import { executionId, part, taskId } from '../fields.js';
import { guarded, warned } from '../proof.js';
import { standingFields } from '../standing.js';
import { defineTool } from '../tool.js';
import { taskView } from '../views.js';

const text = z.string().max(65_536);
const written = { task: part, warning: z.string().optional(), ...standingFields };

export const completeTask = defineTool({
  name: 'complete_task',
  title: 'Finish a task',
  description: 'Marks your task done and ends its lease. The result goes to those who waited for it.',
  input: z.strictObject({ task_id: taskId, result: text.optional(), execution_id: executionId }),
  output: z.object({ ...written, became_ready: z.array(z.string()) }),
  hints: { destructive: true, idempotent: true },
  needsExecution: true,
  async run(call, args) {
    const write = await guarded(call, args.task_id, LeaseState.COMPLETED);
    return warned(call, write, async () => {
      const { task, becameReady } = await call.holdfast.tasks.completeTask({
        ...write,
        result: args.result ?? '',
        requestId: crypto.randomUUID(),
      });
      call.holdings.live.delete(args.task_id);
      return { task: task ? taskView(task) : {}, became_ready: becameReady };
    });
  },
});

export const addNote = defineTool({
  name: 'add_note',
  title: 'Leave a note',
  description: 'Adds a note to a task: progress or findings that the next holder should know.',
  input: z.strictObject({ task_id: taskId, text: text.min(1), execution_id: executionId }),
  output: z.object({ note_id: z.string(), warning: z.string().optional(), ...standingFields }),
  hints: {},
  needsExecution: true,
  async run(call, args) {
    const write = await guarded(call, args.task_id);
    return warned(call, write, async () => {
      const { note } = await call.holdfast.tasks.addNote({
        ...write,
        text: args.text,
        requestId: crypto.randomUUID(),
      });
      return { note_id: note?.id ?? '' };
    });
  },
});
