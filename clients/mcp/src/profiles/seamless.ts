import { TaskStatus } from '@holdfast/proto/task';
import { z } from 'zod';
import { executionId, part, parts } from '../fields.js';
import { standingFields } from '../standing.js';
import { defineTool, type Tool, type ToolCall } from '../tool.js';
import { acquireNextTask, acquireTask } from '../tools/acquire.js';
import { createTasks } from '../tools/create-tasks.js';
import { checkLease, endExecution, releaseTask, renewLease } from '../tools/lease.js';
import { getTask, listReadyTasks } from '../tools/read.js';
import { updateTask } from '../tools/update-task.js';
import { watchTask } from '../tools/watch-task.js';
import { addNote, completeTask } from '../tools/write.js';
import type { Toolset } from '../toolset.js';
import { brief, taskView } from '../views.js';

// Seamless's names and arguments, each on one of our tools. What it has no counterpart for keeps its name.

const id = z.string().min(1).max(256);
const text = z.string().max(65_536).optional();
const commaList = z.string().max(10_000).describe('Task ids, with commas').optional();
const listed = (value: string | undefined) => value?.split(',').map((word) => word.trim()) ?? [];

const tasksReady = defineTool({
  ...listReadyTasks,
  name: 'tasks_ready',
  input: z.strictObject({ plan: z.string().max(256).optional(), execution_id: executionId }),
  output: listReadyTasks.output,
  run: (call, { plan }) => listReadyTasks.run(call, { ...(plan && { plan_id: plan }) } as never),
});

const tasksClaim = defineTool({
  ...acquireTask,
  name: 'tasks_claim',
  input: z.strictObject({
    id,
    lease_seconds: z.coerce.number().int().min(1).max(7_200).optional(),
    execution_id: executionId,
  }),
  output: acquireTask.output,
  run: (call, { id: task_id, lease_seconds: ttl_seconds, execution_id }) =>
    acquireTask.run(call, { task_id, ttl_seconds, execution_id } as never),
});

const tasksRelease = defineTool({
  ...releaseTask,
  name: 'tasks_release',
  input: z.strictObject({ id, execution_id: executionId }),
  output: releaseTask.output,
  run: (call, { id: task_id }) => releaseTask.run(call, { task_id } as never),
});

const tasksUpdate = defineTool({
  ...updateTask,
  name: 'tasks_update',
  description: 'Changes a task; status done completes it, dropped gives it up, open reopens or releases it.',
  input: z.strictObject({
    id,
    status: z.enum(['open', 'in_progress', 'done', 'dropped']).optional(),
    title: z.string().min(1).max(500).optional(),
    body: text,
    add_depends_on: commaList,
    execution_id: executionId,
  }),
  output: z.looseObject(standingFields),
  async run(call, { id: task_id, status, title, body, add_depends_on, execution_id }) {
    const change = {
      task_id,
      ...(title !== undefined && { title }),
      ...(body !== undefined && { body }),
      ...(add_depends_on && { add_blocked_by: listed(add_depends_on) }),
    };
    const changes = Object.keys(change).length > 1;
    if (status === undefined || (status === 'dropped' && changes)) {
      return updateTask.run(call, { ...change, ...(status && { status: 'DROPPED' }) } as never);
    }
    if (changes) await updateTask.run(call, change as never);
    return moveTo(call, task_id, status, execution_id);
  },
});

async function moveTo(
  call: ToolCall,
  task_id: string,
  status: 'open' | 'in_progress' | 'done' | 'dropped',
  execution_id: string | undefined,
): Promise<Record<string, unknown>> {
  switch (status) {
    case 'done':
      return completeTask.run(call, { task_id } as never);
    case 'dropped':
      return updateTask.run(call, { task_id, status: 'DROPPED' } as never);
    case 'in_progress':
      return acquireTask.run(call, { task_id, execution_id } as never);
    default:
      // Open again: by giving it back, or when it is closed by reopening it.
      return call.holdings.live.has(task_id)
        ? releaseTask.run(call, { task_id } as never)
        : updateTask.run(call, { task_id, status: 'OPEN' } as never);
  }
}

const tasksAdd = defineTool({
  ...createTasks,
  name: 'tasks_add',
  title: 'Create a task',
  description: 'Creates a task, with what it waits for.',
  input: z.strictObject({
    title: z.string().min(1).max(500),
    body: text,
    depends_on: commaList,
    plan: z.string().max(256).optional(),
    execution_id: executionId,
  }),
  output: createTasks.output,
  run: (call, { title, body, depends_on, plan }) =>
    createTasks.run(call, {
      tasks: [{ title, body, blocked_by: listed(depends_on) }],
      ...(plan && { plan_id: plan }),
    } as never),
});

const STATUSES = {
  open: TaskStatus.OPEN,
  in_progress: TaskStatus.IN_PROGRESS,
  done: TaskStatus.DONE,
  dropped: TaskStatus.DROPPED,
};

const tasksList = defineTool({
  ...getTask,
  name: 'tasks_list',
  title: 'List tasks',
  description: 'Lists tasks, or with id reads one.',
  input: z.strictObject({
    id: id.optional(),
    status: z.enum(['open', 'in_progress', 'done', 'dropped']).optional(),
    plan: z.string().max(256).optional(),
    execution_id: executionId,
  }),
  output: z.object({
    tasks: parts,
    more: z.boolean().optional(),
    notes: z.array(part).optional(),
    ...standingFields,
  }),
  async run(call, { id: task_id, status, plan }) {
    if (task_id) {
      const { task, notes } = (await getTask.run(call, { task_id, detail: true } as never)) as {
        task: object;
        notes?: object[];
      };
      return { tasks: [task], ...(notes && { notes }) } as never;
    }
    const { tasks, nextPageToken } = await call.holdfast.tasks.listTasks({
      project: call.project,
      statuses: status ? [STATUSES[status]] : [],
      planId: plan ?? '',
      pageSize: 20,
    });
    const shown = tasks.map((task) => ({ ...brief(task), status: taskView(task).status }));
    return { tasks: shown, ...(nextPageToken && { more: true }) };
  },
});

const KEPT: readonly Tool[] = [acquireNextTask, renewLease, addNote, checkLease, watchTask, endExecution];

/** The tools under the names and with the arguments that agents know from Seamless. */
export const SEAMLESS_TOOLS: Toolset = {
  tools: [tasksReady, tasksClaim, tasksRelease, tasksUpdate, tasksAdd, tasksList, ...KEPT],
  names: {
    acquireNext: 'acquire_next_task',
    acquire: 'tasks_claim',
    renew: 'renew_lease',
    release: 'tasks_release',
    complete: 'tasks_update (status done)',
    create: 'tasks_add',
  },
};
