import http from 'node:http';
import https from 'node:https';
import { ANSWER_WITHIN } from '../domain/delivery.js';
import { ForbiddenTarget, type WebhookTargets } from './webhook-targets.js';

/** What is posted. */
export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What came of it. */
export type WebhookAnswer =
  | { readonly kind: 'ARRIVED' }
  | { readonly kind: 'FAILED'; readonly error: string; readonly gone: boolean }
  /** Broken off by the signal: whether it arrived is not known. */
  | { readonly kind: 'BROKEN_OFF' };

/** What of an answer's body is read before the connection is closed: nobody looks at it. */
const BODY_READ = 64 * 1024;

const GONE =
  'answered 410 (gone): nothing more is sent; delete the webhook, and create it anew if it is wanted';

/**
 * Posts once. Redirects are not followed: they could lead anywhere. Never rejects; what went wrong is told without
 * anything that the receiver said, since it may be anybody's.
 *
 * @param signal breaks it off
 * @param withinMs how long it may take until the answer's headers are there
 */
export function postWebhook(
  { url: text, headers, body }: WebhookRequest,
  targets: WebhookTargets,
  signal: AbortSignal,
  withinMs = ANSWER_WITHIN / 1_000,
): Promise<WebhookAnswer> {
  const url = new URL(text);
  const fault = targets.hostFaultOf(url);
  if (fault !== undefined) return Promise.resolve(failed(`the host ${fault}`));
  const timeout = AbortSignal.timeout(withinMs);
  return new Promise((settle) => {
    const { request } = url.protocol === 'https:' ? https : http;
    const sent = request(url, {
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      // A connection of its own: the next one is judged anew.
      agent: false,
      lookup: targets.lookup,
      signal: AbortSignal.any([signal, timeout]),
    });
    sent.on('response', (response) => {
      let read = 0;
      response.on('data', (chunk: Buffer) => {
        read += chunk.length;
        if (read > BODY_READ) response.destroy();
      });
      // It counts what was answered, not how the answer ends.
      response.on('error', () => {});
      settle(answerOf(response.statusCode ?? 0));
    });
    sent.on('error', (error) => {
      if (signal.aborted) settle({ kind: 'BROKEN_OFF' });
      else settle(failed(timeout.aborted ? `did not answer within ${withinMs / 1_000} s` : reasonOf(error)));
    });
    // Without an answer or an error, as after an upgrade that nobody asked for.
    sent.on('close', () => settle(failed(CLOSED)));
    sent.end(body);
  });
}

const CLOSED = 'closed the connection before it answered';

function answerOf(status: number): WebhookAnswer {
  if (status >= 200 && status < 300) return { kind: 'ARRIVED' };
  if (status === 410) return failed(GONE, true);
  const hint = status >= 300 && status < 400 ? ': redirects are not followed' : '';
  return failed(`answered ${status}${hint}`);
}

const failed = (error: string, gone = false): WebhookAnswer => ({ kind: 'FAILED', error, gone });

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused the connection',
  ECONNRESET: CLOSED,
  ENOTFOUND: 'the host has no address',
  EAI_AGAIN: 'the host could not be looked up',
};

function reasonOf(error: Error & { code?: unknown }): string {
  if (error instanceof ForbiddenTarget) return `the host ${error.message}`;
  // Of several addresses, each with an error of its own, the first tells enough.
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return reasonOf(error.errors[0]);
  const code = typeof error.code === 'string' ? error.code : 'an unknown error';
  return REASONS[code] ?? `could not be reached: ${code}`;
}
