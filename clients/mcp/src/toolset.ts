import type { Tool, ToolNames } from './tool.js';
import { acquireNextTask, acquireTask } from './tools/acquire.js';
import { createTasks } from './tools/create-tasks.js';
import { checkLease, endExecution, releaseTask, renewLease } from './tools/lease.js';
import { getTask, listReadyTasks } from './tools/read.js';
import { updateTask } from './tools/update-task.js';
import { watchTask } from './tools/watch-task.js';
import { addNote, completeTask } from './tools/write.js';

/** The tools of a connection, and what those are called that texts tell of. */
export interface Toolset {
  readonly tools: readonly Tool[];
  readonly names: ToolNames;
}

export const HOLDFAST_TOOLS: Toolset = {
  tools: [
    acquireNextTask,
    acquireTask,
    renewLease,
    releaseTask,
    completeTask,
    updateTask,
    addNote,
    listReadyTasks,
    getTask,
    createTasks,
    checkLease,
    watchTask,
    endExecution,
  ],
  names: {
    acquireNext: 'acquire_next_task',
    acquire: 'acquire_task',
    renew: 'renew_lease',
    release: 'release_task',
    complete: 'complete_task',
    create: 'create_tasks',
  },
};
