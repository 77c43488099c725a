import { CreateWebhookResponseSchema } from '@holdfast/proto/project';
import type { Command } from 'commander';
import { connected, remoteCommand } from '../../command.js';

export function webhooksAdd(): Command {
  return remoteCommand(
    'add',
    'As an admin: post expiries to a URL; prints the signing secret once',
    'holdfast project webhooks add https://example.com/holdfast',
  )
    .argument('<url>', 'where to post to, http or https')
    .action(
      connected<object, [string]>(async ({ holdfast, out, project }, _options, url) => {
        const answer = await holdfast.projects.createWebhook({ project, url });
        // Alone on stdout, so that $(…) takes just the secret.
        out.result(CreateWebhookResponseSchema, answer, () => answer.secret);
        out.note(
          `Webhook ${answer.webhook?.id}. Its deliveries are signed with this secret. Keep it: it is never shown again.`,
        );
      }),
    );
}
