import type { Command } from 'commander';
import { commandGroup } from './command.js';
import { taskAdd } from './task/add.js';
import { taskDep } from './task/dep.js';
import { taskDone } from './task/done.js';
import { taskDrop } from './task/drop.js';
import { taskList } from './task/list.js';
import { taskNote } from './task/note.js';
import { taskReopen } from './task/reopen.js';
import { taskRequeue } from './task/requeue.js';
import { taskShow } from './task/show.js';
import { taskUpdate } from './task/update.js';

export function taskCommand(): Command {
  return commandGroup(
    'task',
    'Add, find and change tasks',
    taskAdd(),
    taskList(),
    taskShow(),
    taskUpdate(),
    taskDone(),
    taskDrop(),
    taskReopen(),
    taskRequeue(),
    taskNote(),
    taskDep(),
  );
}
