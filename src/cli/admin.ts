import type { Command } from 'commander';
import { newEpochCommand } from './admin/new-epoch.js';
import { commandGroup } from './command.js';

export function adminCommand(): Command {
  return commandGroup('admin', 'Work on the database itself, while no server uses it', newEpochCommand());
}
