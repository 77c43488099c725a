import type { NotReady } from '@holdfast/proto/task';
import { z } from 'zod';
import { cut } from '../cut.js';
import { executionId, part, parts, queueFilter, taskId } from '../fields.js';
import { standingFields } from '../standing.js';
import { instant } from '../time.js';
import { defineTool } from '../tool.js';
import { brief, holderView, noteView, taskView, unmetView, withoutNothing } from '../views.js';

/** How many tasks of a list that is empty are explained. */
const EXPLAINED = 5;

export const listReadyTasks = defineTool({
  name: 'list_ready_tasks',
  title: 'List what can be taken',
  description: 'Lists the tasks that can be taken now, best first; when there are none, says why.',
  input: z.strictObject({
    ...queueFilter,
    limit: z.number().int().min(1).max(100).describe('10 by default').optional(),
    detail: z.boolean().optional(),
    execution_id: executionId,
  }),
  output: z.object({
    tasks: parts,
    more: z.boolean().optional(),
    not_ready: parts.optional(),
    ...standingFields,
  }),
  hints: { readOnly: true, idempotent: true },
  needsExecution: false,
  async run({ holdfast, project }, args) {
    const filter = {
      project,
      planId: args.plan_id ?? '',
      labels: args.labels ?? [],
      assignee: args.assignee ?? '',
    };
    const { tasks, nextPageToken } = await holdfast.tasks.listReadyTasks({
      ...filter,
      pageSize: args.limit ?? 10,
    });
    if (tasks.length > 0) {
      const shown = tasks.map((task) => (args.detail ? taskView(task) : brief(task)));
      return { tasks: shown, ...(nextPageToken && { more: true }) };
    }
    const { notReady } = await holdfast.tasks.listReadyTasks({
      ...filter,
      explain: true,
      pageSize: EXPLAINED,
    });
    return {
      tasks: [],
      ...(notReady.length > 0 && { not_ready: notReady.slice(0, EXPLAINED).map(notReadyView) }),
    };
  },
});

function notReadyView({ taskId, title, reason, holder, expiresAt }: NotReady) {
  return withoutNothing({
    id: taskId,
    title: cut(title, 60),
    reason,
    holder: holder && holderView(holder),
    expires_at: instant(expiresAt),
  });
}

export const getTask = defineTool({
  name: 'get_task',
  title: 'Read a task',
  description:
    'Reads one task with its newest notes and what it waits for. Long texts are cut unless detail.',
  input: z.strictObject({ task_id: taskId, detail: z.boolean().optional(), execution_id: executionId }),
  output: z.object({
    task: part,
    notes: parts.optional(),
    unmet_dependencies: parts.optional(),
    ...standingFields,
  }),
  hints: { readOnly: true, idempotent: true },
  needsExecution: false,
  async run({ holdfast, project }, { task_id, detail = false }) {
    const answer = await holdfast.tasks.getTask({ project, taskId: task_id });
    const notes = detail ? answer.notes : answer.notes.slice(0, 3);
    return {
      task: answer.task ? taskView(answer.task, detail) : {},
      ...withoutNothing({
        notes: notes.map((note) => noteView(note, detail)),
        unmet_dependencies: answer.unmetDependencies.map(unmetView),
      }),
    };
  },
});
