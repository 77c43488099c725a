import type { Command } from 'commander';
import { commandGroup } from '../command.js';
import { webhooksAdd } from './webhooks/add.js';
import { webhooksList } from './webhooks/list.js';
import { webhooksRemove } from './webhooks/remove.js';

export function projectWebhooks(): Command {
  return commandGroup('webhooks', 'Where expiries are posted to')
    .addCommand(webhooksList(), { isDefault: true })
    .addCommand(webhooksAdd())
    .addCommand(webhooksRemove());
}
