import { z } from 'zod';
import { executionId, part, taskId } from '../fields.js';
import { guarded, warned } from '../proof.js';
import { standingFields } from '../standing.js';
import { defineTool, type ToolCall } from '../tool.js';
import { PartlyDone, ToolFailure } from '../trouble.js';
import { taskView } from '../views.js';

const text = z.string().max(65_536);
const ids = z.array(z.string().min(1).max(256)).max(100);

const input = z.strictObject({
  task_id: taskId,
  title: z.string().min(1).max(500).optional(),
  body: text.optional(),
  priority: z.int32().describe('Higher first').optional(),
  labels: z.array(z.string().max(64)).max(64).optional(),
  assignee: z.string().max(256).optional(),
  add_blocked_by: ids.optional(),
  remove_blocked_by: ids.optional(),
  status: z.enum(['DROPPED', 'OPEN']).describe('OPEN reopens').optional(),
  reason: text.optional(),
  execution_id: executionId,
});

export const updateTask = defineTool({
  name: 'update_task',
  title: 'Change a task',
  description: 'Changes a task or what it waits for, drops it or reopens it. What you leave out stays.',
  input,
  output: z.object({ task: part, warning: z.string().optional(), ...standingFields }),
  hints: { destructive: true },
  needsExecution: true,
  async run(call, args) {
    const write = await guarded(call, args.task_id);
    const steps = stepsOf(call, args, write);
    if (steps.length === 0) {
      throw new ToolFailure(
        'Say what to change and call again: title, body, priority, labels, assignee, add_blocked_by, remove_blocked_by, or status (DROPPED or OPEN).',
      );
    }
    return warned(call, write, async () => {
      await inTurn(steps);
      if (args.status === 'DROPPED') call.holdings.live.delete(args.task_id);
      const { task } = await call.holdfast.tasks.getTask({ project: call.project, taskId: args.task_id });
      return { task: task ? taskView(task) : {} };
    });
  },
});

interface Step {
  readonly what: string;
  readonly work: () => Promise<unknown>;
}

async function inTurn(steps: readonly Step[]): Promise<void> {
  const done: string[] = [];
  for (const { what, work } of steps) {
    try {
      await work();
    } catch (error) {
      throw done.length > 0 ? new PartlyDone(done, what, error) : error;
    }
    done.push(what);
  }
}

/** One step an RPC; what ends the lease comes last. */
function stepsOf(
  { holdfast: { tasks } }: ToolCall,
  args: z.output<typeof input>,
  write: Awaited<ReturnType<typeof guarded>>,
): Step[] {
  const { title, body, priority, labels, assignee, add_blocked_by, remove_blocked_by, status, reason } = args;
  const content = Object.entries({ title, body, priority, labels, assignee }).filter(
    ([, value]) => value !== undefined,
  );
  const steps: Step[] = [];
  if (content.length > 0) {
    const paths = content.map(([name]) => name);
    const change = { ...write, ...Object.fromEntries(content), updateMask: { paths } };
    steps.push({ what: paths.join(', '), work: () => tasks.updateTask(change) });
  }
  for (const blockedBy of add_blocked_by ?? []) {
    steps.push({
      what: `add_blocked_by ${blockedBy}`,
      work: () => tasks.addDependency({ ...write, blockedBy }),
    });
  }
  for (const blockedBy of remove_blocked_by ?? []) {
    steps.push({
      what: `remove_blocked_by ${blockedBy}`,
      work: () => tasks.removeDependency({ ...write, blockedBy }),
    });
  }
  if (status === 'DROPPED') {
    steps.push({ what: 'status', work: () => tasks.dropTask({ ...write, reason: reason ?? '' }) });
  }
  if (status === 'OPEN') {
    steps.push({ what: 'status', work: () => tasks.reopenTask({ ...write, reason: reason ?? '' }) });
  }
  return steps;
}
