import type { Command } from 'commander';
import { commandGroup } from './command.js';
import { projectCreate } from './project/create.js';
import { projectList } from './project/list.js';
import { projectShow } from './project/show.js';
import { projectUpdate } from './project/update.js';
import { projectWebhooks } from './project/webhooks.js';

export function projectCommand(): Command {
  return commandGroup(
    'project',
    'Projects and their rules',
    projectList(),
    projectShow(),
    projectCreate(),
    projectUpdate(),
    projectWebhooks(),
  );
}
