import { ListWebhooksResponseSchema } from '@holdfast/proto/project';
import type { Command } from 'commander';
import { integer } from '../../arguments.js';
import { connected, remoteCommand } from '../../command.js';
import { noteMore, readPages } from '../../pages.js';

interface Options {
  limit: number;
}

export function webhooksList(): Command {
  return remoteCommand(
    'list',
    "As an admin: list a project's webhooks and their failures",
    'holdfast project webhooks list',
    'holdfast project webhooks list --project website --json',
  )
    .option('--limit <number>', 'at most so many', integer(1), 100)
    .action(
      connected<Options>(async (session, { limit }) => {
        const { holdfast, out, project } = session;
        const answer = await readPages(
          limit,
          (page) => holdfast.projects.listWebhooks({ project, ...page }),
          ({ webhooks }) => webhooks,
        );
        out.result(ListWebhooksResponseSchema, answer, () => {
          if (answer.webhooks.length === 0) return 'No webhooks.';
          return out.table(answer.webhooks, [
            ['ID', (webhook) => webhook.id],
            ['WAITING', (webhook) => String(webhook.pending)],
            ['GIVEN UP', (webhook) => String(webhook.dead)],
            ['URL', (webhook) => webhook.url],
            ['LAST ERROR', (webhook) => webhook.lastError],
          ]);
        });
        noteMore(session, answer, limit);
      }),
    );
}
