import type { IncomingMessage, ServerResponse } from 'node:http';
import { constants, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';

/** A request, over whichever HTTP version. */
export type HttpRequest = IncomingMessage | Http2ServerRequest;

/** The response to an {@link HttpRequest}. */
export type HttpResponse = ServerResponse<IncomingMessage> | Http2ServerResponse;

/** The path of a request without its query, which may hold what must not be logged. */
export function pathOf(req: HttpRequest): string {
  return (req.url ?? '').split('?', 1)[0] ?? '';
}

/** Sends a complete response. The body of a HEAD request's answer is left out, its length is told. */
export function send(
  req: HttpRequest,
  res: HttpResponse,
  status: number,
  contentType: string,
  body: string,
): void {
  res.statusCode = status;
  res.setHeader('content-type', contentType);
  res.setHeader('content-length', Buffer.byteLength(body));
  res.setHeader('cache-control', 'no-store');
  res.setHeader('x-content-type-options', 'nosniff');
  if (req.method === 'HEAD') res.end();
  else res.end(body);
}

/** Sends a complete JSON response. */
export function sendJson(req: HttpRequest, res: HttpResponse, status: number, value: unknown): void {
  send(req, res, status, 'application/json', `${JSON.stringify(value)}\n`);
}

/** 405, with the methods that do work. */
export function sendWrongMethod(req: HttpRequest, res: HttpResponse, allowed: readonly string[]): void {
  const allow = allowed.join(', ');
  res.setHeader('allow', allow);
  sendJson(req, res, 405, {
    code: 'unimplemented',
    message: `${req.method} does not work on ${pathOf(req)}: use ${allow}`,
  });
}

/** Ends a response that cannot be completed, so that the client does not take it for a complete one. */
export function cutOff(res: HttpResponse): void {
  if ('stream' in res) res.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  else res.destroy();
}
