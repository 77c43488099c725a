import { Code } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { startTestService } from '../support/service.js';

it('a project has 20 webhooks at most, and says what to do then', async () => {
  const service = await startTestService();
  const { projects } = service.client(service.ownerToken);
  const add = (project: string, at: number) =>
    projects.createWebhook({ project, url: `http://127.0.0.1:9/${at}` });
  const made = await Promise.all(Array.from({ length: 20 }, (_, at) => add('default', at)));
  await expect(add('default', 20)).rejects.toMatchObject({
    code: Code.FailedPrecondition,
    rawMessage: expect.stringMatching(/20 webhooks.*Delete one.*ListWebhooks/),
  });
  await projects.createProject({ project: 'other' });
  expect((await add('other', 0)).webhook?.url).toContain('/0');

  await projects.deleteWebhook({ webhookId: made[0]?.webhook?.id ?? '' });
  await add('default', 20);
  const { webhooks } = await projects.listWebhooks({});
  expect(webhooks).toHaveLength(20);
});
