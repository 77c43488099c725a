import { createHash } from 'node:crypto';
import { z } from 'zod';
import { executionId, parts } from '../fields.js';
import { guarded } from '../proof.js';
import { standingFields } from '../standing.js';
import { defineTool } from '../tool.js';
import { PartlyDone, ToolFailure } from '../trouble.js';

const newTask = z.strictObject({
  key: z.string().max(64).describe('Your name for it in this call').optional(),
  title: z.string().min(1).max(500),
  body: z.string().max(65_536).optional(),
  priority: z.int32().optional(),
  labels: z.array(z.string().max(64)).max(64).optional(),
  blocked_by: z.array(z.string().max(256)).max(100).describe('Keys of this call, or task ids').optional(),
  parent_id: z.string().max(256).optional(),
  assignee: z.string().max(256).optional(),
});

type NewTask = z.output<typeof newTask>;

export const createTasks = defineTool({
  name: 'create_tasks',
  title: 'Create tasks',
  description:
    'Creates tasks with what they wait for, in a new plan, an existing one, or none. Safe to repeat.',
  input: z.strictObject({
    tasks: z.array(newTask).min(1).max(50),
    plan_id: z.string().max(256).optional(),
    plan_title: z.string().min(1).max(500).describe('Makes a new plan').optional(),
    execution_id: executionId,
  }),
  output: z.object({ plan_id: z.string().optional(), tasks: parts, ...standingFields }),
  hints: { idempotent: true },
  needsExecution: true,
  async run(call, args) {
    const order = inOrder(args.tasks);
    if (args.plan_id && args.plan_title)
      throw new ToolFailure('Give either plan_id or plan_title, not both.');
    const { holdfast, project, executionId } = call;
    // The same call again, after a lost answer, makes nothing twice.
    const requestId = createHash('sha256')
      .update(JSON.stringify([executionId, args.plan_id, args.plan_title, args.tasks]))
      .digest('hex')
      .slice(0, 32);
    let planId = args.plan_id ?? '';
    if (args.plan_title) {
      const { plan } = await holdfast.tasks.createPlan({
        project,
        title: args.plan_title,
        executionId,
        requestId,
      });
      planId = plan?.id ?? '';
    }
    const made = new Map<NewTask, { id: string; title: string; key?: string }>();
    const byKey = (name: string) => [...made].find(([task]) => task.key === name)?.[1].id ?? name;
    for (const task of order) {
      try {
        const parent = task.parent_id ? await guarded(call, task.parent_id) : undefined;
        const created = await holdfast.tasks.createTask({
          project,
          title: task.title,
          body: task.body ?? '',
          priority: task.priority ?? 0,
          labels: task.labels ?? [],
          assignee: task.assignee ?? '',
          blockedBy: (task.blocked_by ?? []).map(byKey),
          planId,
          parentId: task.parent_id ?? '',
          executionId,
          requestId: `${requestId}-${args.tasks.indexOf(task)}`,
          ...(parent?.proof && { proof: parent.proof }),
        });
        made.set(task, { id: created.task?.id ?? '', title: task.title, ...(task.key && { key: task.key }) });
      } catch (error) {
        if (made.size === 0) throw error;
        const told = [...made.values()].map(({ id, title }) => `"${title}" (${id})`);
        throw new PartlyDone(told, `"${task.title}" and what comes after it`, error);
      }
    }
    return {
      ...(planId && { plan_id: planId }),
      tasks: args.tasks.map((task) => made.get(task) ?? {}),
    };
  },
});

/** Each task after those of the call that it waits for: it must never be ready too early, not even for a moment. */
function inOrder(tasks: readonly NewTask[]): NewTask[] {
  const byKey = new Map<string, NewTask>();
  for (const task of tasks) {
    if (task.key === undefined) continue;
    if (byKey.has(task.key))
      throw new ToolFailure(`Two tasks have the key "${task.key}": give each its own.`);
    byKey.set(task.key, task);
  }
  const order = new Set<NewTask>();
  const visit = (task: NewTask, trail: readonly NewTask[]) => {
    if (order.has(task)) return;
    if (trail.includes(task)) {
      const circle = [...trail.slice(trail.indexOf(task)), task].map(({ key }) => key).join(' → ');
      throw new ToolFailure(`These tasks wait for each other: ${circle}. Remove one blocked_by of them.`);
    }
    for (const name of task.blocked_by ?? []) {
      const blocker = byKey.get(name);
      if (blocker) visit(blocker, [...trail, task]);
    }
    order.add(task);
  };
  for (const task of tasks) visit(task, []);
  return [...order];
}
