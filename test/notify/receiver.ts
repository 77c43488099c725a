import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { afterAll } from 'vitest';

/** What a receiver was sent. */
export interface Received {
  /** The `webhook-id`: the same for every attempt at one delivery. */
  readonly id: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly taskId: string;
  readonly type: string;
  readonly position: number;
  /** What it was answered; undefined while it waits or when the connection was cut. */
  status?: number;
}

/** How to answer: a status, or with the connection in the hand: cut it, or keep it waiting. */
export type Answer = number | ((response: ServerResponse) => void);

/** Cuts the connection without an answer. */
export const drop: Answer = (response) => response.destroy();

export interface Receiver {
  readonly url: string;
  /** All attempts, in the order of their arrival. */
  readonly received: Received[];
  /** Those that were answered with 2xx. */
  taken(): Received[];
  /** How to answer; 204 unless set. */
  answer: (received: Received) => Answer;
}

/** An HTTP server that webhooks post to. It ends with the test file. */
export async function startReceiver(): Promise<Receiver> {
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const { type, data } = JSON.parse(body);
    const received: Received = {
      id: String(request.headers['webhook-id']),
      headers: request.headers,
      body,
      type,
      taskId: data.taskId,
      position: Number(data.position),
    };
    receiver.received.push(received);
    const answer = receiver.answer(received);
    if (typeof answer === 'function') {
      answer(response);
      return;
    }
    received.status = answer;
    response
      .writeHead(answer, answer === 302 ? { location: receiver.url } : {})
      .end('secret of the receiver');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received: [],
    taken: () => receiver.received.filter(({ status = 0 }) => status >= 200 && status < 300),
    answer: () => 204,
  };
  return receiver;
}

/** Whether a delivery is signed with a secret, whenever it was sent. */
export function isSigned({ headers, body }: Received, secret: string): boolean {
  const at = new Date(Number(headers['webhook-timestamp']) * 1_000);
  const expected = new Webhook(secret).sign(String(headers['webhook-id']), at, body);
  return headers['webhook-signature'] === expected;
}
