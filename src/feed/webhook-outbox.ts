import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { pauseAfter } from '../domain/delivery.js';
import {
  type AfterFailure,
  claimDeliveries,
  type Delivery,
  deliveryArrived,
  deliveryBrokenOff,
  deliveryFailed,
} from '../store/deliveries.js';
import type { HistoryEvent } from '../store/history.js';
import type { Store } from '../store/store.js';
import type { Background, FaultListener } from './background.js';
import { postWebhook } from './webhook-request.js';
import type { WebhookTargets } from './webhook-targets.js';

/** How many deliveries a process has under way, and how many of one webhook: a slow one must not take all places. */
const AT_ONCE = 32;
const AT_ONCE_EACH = 4;

/** How long deliveries under way may go on when the server stops. */
const STOP_MS = 200;

/** What came of an attempt. */
type AttemptResult = 'ARRIVED' | AfterFailure | 'BROKEN_OFF';

export interface OutboxOptions {
  readonly targets: WebhookTargets;
  /** The JSON that tells of an event. */
  readonly body: (event: HistoryEvent) => string;
  readonly onAttempt: (result: AttemptResult) => void;
  /** Between two looks for what is due when nobody hints at it, in milliseconds. Default 1,000. */
  readonly pollMs?: number | undefined;
}

export interface WebhookOutbox extends Background {
  /** There may be something to deliver. Never blocks, never throws. */
  wake(): void;
}

/**
 * Delivers what is in the outbox, with any number of replicas: each takes on what is due, posts it, and says in the
 * database what came of it. What a replica took on and never settled is taken over by another.
 */
export function createWebhookOutbox(
  store: Store,
  { targets, body, onAttempt, pollMs = 1_000 }: OutboxOptions,
  onFault: FaultListener,
): WebhookOutbox {
  const underWay = new Set<Promise<void>>();
  const ofWebhook = new Map<string, number>();
  const breakOff = new AbortController();
  let claiming: Promise<void> | undefined;
  let again = false;
  let stopped = false;

  const count = ({ webhookId }: Delivery, by: 1 | -1) => {
    const deliveries = (ofWebhook.get(webhookId) ?? 0) + by;
    if (deliveries === 0) ofWebhook.delete(webhookId);
    else ofWebhook.set(webhookId, deliveries);
  };

  const attempt = async (delivery: Delivery): Promise<AttemptResult> => {
    const request = signedRequest(delivery, body(delivery.event));
    const answer = await postWebhook(request, targets, breakOff.signal);
    if (answer.kind === 'ARRIVED') await deliveryArrived(store, delivery);
    else if (answer.kind === 'BROKEN_OFF') await deliveryBrokenOff(store, delivery);
    else {
      const pause = pauseAfter(delivery.attempt, Math.random());
      return deliveryFailed(store, delivery, { ...answer, pause });
    }
    return answer.kind;
  };

  const start = (delivery: Delivery) => {
    count(delivery, 1);
    const work = attempt(delivery)
      .then(onAttempt)
      .catch((error) => onFault('webhook delivery', error))
      .finally(() => {
        underWay.delete(work);
        count(delivery, -1);
        // The next of the same task waited for it.
        wake();
      });
    underWay.add(work);
  };

  const claim = async () => {
    const free = AT_ONCE - underWay.size;
    if (free <= 0) return;
    for (const delivery of await claimDeliveries(store, free, AT_ONCE_EACH, ofWebhook)) start(delivery);
  };

  const wake = () => {
    if (stopped) return;
    if (claiming) {
      again = true;
      return;
    }
    again = false;
    claiming = claim()
      .catch((error) => onFault('webhook outbox', error))
      .finally(() => {
        claiming = undefined;
        if (again) wake();
      });
  };
  const poll = setInterval(wake, pollMs);
  poll.unref();

  return {
    wake,
    async stop() {
      stopped = true;
      clearInterval(poll);
      await claiming;
      await Promise.race([Promise.all(underWay), sleep(STOP_MS, undefined, { ref: false })]);
      breakOff.abort();
      await Promise.all(underWay);
    },
  };
}

function signedRequest({ url, secret, messageId, at }: Delivery, body: string) {
  const seconds = Math.floor(at / 1_000_000);
  return {
    url,
    body,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Holdfast',
      'webhook-id': messageId,
      'webhook-timestamp': String(seconds),
      'webhook-signature': new Webhook(secret).sign(messageId, new Date(seconds * 1_000), body),
    },
  };
}
