import { DeleteWebhookResponseSchema } from '@holdfast/proto/project';
import type { Command } from 'commander';
import { connected, remoteCommand } from '../../command.js';

export function webhooksRemove(): Command {
  return remoteCommand(
    'remove',
    'As an admin: remove a webhook and what waits for it',
    'holdfast project webhooks remove 0192…',
  )
    .argument('<webhook id>', 'from project webhooks list')
    .action(
      connected<object, [string]>(async ({ holdfast, out, project }, _options, webhookId) => {
        const answer = await holdfast.projects.deleteWebhook({ project, webhookId });
        out.result(DeleteWebhookResponseSchema, answer, () => `Removed webhook ${webhookId}.`);
      }),
    );
}
