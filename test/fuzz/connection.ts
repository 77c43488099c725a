import { once } from 'node:events';
import { Agent, request as http1Request } from 'node:http';
import { type ClientHttp2Session, connect } from 'node:http2';
import type { WireAnswer } from './answers.js';
import type { WireRequest } from './requests.js';

/** Carries raw requests to a server, over HTTP/2 or HTTP/1.1. */
export interface Connection {
  send(request: WireRequest, token: string): Promise<WireAnswer>;
  close(): void;
}

const DEADLINE_MS = 20_000;

/** One HTTP/2 connection, opened again when the server closed it. */
export function overHttp2(url: string): Connection {
  let session: ClientHttp2Session | undefined;
  const open = () => {
    if (!session || session.closed || session.destroyed) {
      session = connect(url);
      session.on('error', () => {});
    }
    return session;
  };
  return {
    async send({ method, path, headers, body }, token) {
      const stream = open().request(
        { ':method': method, ':path': path, ...headers, authorization: `Bearer ${token}` },
        { endStream: body === undefined },
      );
      stream.setTimeout(DEADLINE_MS, () => stream.destroy(new Error(`no answer from ${path}`)));
      if (body !== undefined) stream.end(body);
      let trailers = {};
      stream.once('trailers', (received) => {
        trailers = received;
      });
      const [head] = await once(stream, 'response');
      const chunks: Buffer[] = [];
      for await (const chunk of stream) chunks.push(chunk);
      return {
        status: Number(head[':status']),
        headers: { ...head, ...trailers },
        body: Buffer.concat(chunks),
      };
    },
    close: () => session?.close(),
  };
}

/** A few HTTP/1.1 connections that are kept open. */
export function overHttp1(url: string): Connection {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  return {
    async send({ method, path, headers, body }, token) {
      const request = http1Request(url + path, {
        method,
        agent,
        timeout: DEADLINE_MS,
        headers: { ...headers, authorization: `Bearer ${token}`, 'content-length': body?.length ?? 0 },
      });
      request.once('timeout', () => request.destroy(new Error(`no answer from ${path}`)));
      request.end(body);
      const [response] = await once(request, 'response');
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      const trailers = response.trailers as Record<string, string>;
      return {
        status: response.statusCode,
        headers: { ...response.headers, ...trailers },
        body: Buffer.concat(chunks),
      };
    },
    close: () => agent.destroy(),
  };
}
