import { create, type MessageInitShape, toJson } from '@bufbuild/protobuf';
import { TimestampSchema } from '@bufbuild/protobuf/wkt';
import { EventSchema } from '@holdfast/proto/history';
import type { WebhookSchema } from '@holdfast/proto/project';
import type { HistoryEvent } from '../../store/history.js';
import type { Webhook } from '../../store/webhooks.js';
import { eventMessage } from './event.js';
import { timestamp } from './time.js';

export function webhookMessage(webhook: Webhook): MessageInitShape<typeof WebhookSchema> {
  return { ...webhook, createdAt: timestamp(webhook.createdAt) };
}

/** What a webhook is sent of an event: a kind such as `lease.expired`, its time, and the event as the API tells it. */
export function webhookBody(event: HistoryEvent): string {
  return JSON.stringify({
    type: event.kind.toLowerCase().replace('_', '.'),
    timestamp: toJson(TimestampSchema, timestamp(event.at)),
    data: toJson(EventSchema, create(EventSchema, eventMessage(event))),
  });
}
