import type { ProjectService } from '@holdfast/proto/project';
import { MAX_WEBHOOKS } from '../domain/delivery.js';
import { actorOf } from '../domain/write.js';
import { createWebhook, deleteWebhook, listWebhooks } from '../store/webhooks.js';
import { fail, type ServiceFunctions } from './api.js';
import { webhookMessage } from './encode/webhook.js';
import { newId, newWebhookSecret } from './ids.js';
import { cut, pageOf } from './page.js';
import { invalidArgument } from './problems.js';

type Functions = ServiceFunctions<typeof ProjectService.method>;

const createWebhookCall: Functions['createWebhook'] = async ({ store, targets }, call, request) => {
  const fault = await targets.faultOf(request.url);
  if (fault !== undefined) throw invalidArgument('url', fault);
  const secret = newWebhookSecret();
  const webhook = await createWebhook(
    store,
    call.project,
    { id: newId(), url: new URL(request.url).href, secret },
    MAX_WEBHOOKS,
    actorOf(call.caller),
  );
  if (!webhook) {
    fail({
      kind: 'FAILED_PRECONDITION',
      message: `The project has ${MAX_WEBHOOKS} webhooks, and no project has more. Delete one that is not needed: ListWebhooks shows them.`,
    });
  }
  return { webhook: webhookMessage(webhook), secret };
};

const listWebhooksCall: Functions['listWebhooks'] = async ({ store }, call, request) => {
  const page = pageOf(request, call.project);
  const found = await listWebhooks(store, call.project, page.after ?? '', page.size + 1);
  const { rows, nextPageToken } = cut(page, found, (webhook) => webhook.id);
  return { webhooks: rows.map(webhookMessage), nextPageToken };
};

const deleteWebhookCall: Functions['deleteWebhook'] = async ({ store }, call, request) => {
  if (!(await deleteWebhook(store, call.project, request.webhookId, actorOf(call.caller)))) {
    fail({
      kind: 'NOT_FOUND',
      message: `There is no webhook ${JSON.stringify(request.webhookId)} in this project. ListWebhooks tells their ids.`,
    });
  }
  return {};
};

export const webhookFunctions = {
  createWebhook: createWebhookCall,
  listWebhooks: listWebhooksCall,
  deleteWebhook: deleteWebhookCall,
} satisfies Functions;
