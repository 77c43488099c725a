import type { Command } from 'commander';
import { commandGroup } from './command.js';
import { planAdd } from './plan/add.js';
import { planList } from './plan/list.js';
import { planShow } from './plan/show.js';
import { planUpdate } from './plan/update.js';

export function planCommand(): Command {
  return commandGroup(
    'plan',
    'Ordered sets of tasks, with their progress',
    planList(),
    planShow(),
    planAdd(),
    planUpdate(),
  );
}
