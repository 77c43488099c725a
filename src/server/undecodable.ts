import {
  Code,
  ConnectError,
  type ContextValues,
  createContextKey,
  type Interceptor,
} from '@connectrpc/connect';
import type { UniversalServerResponse } from '@connectrpc/connect/protocol';

const decoded = createContextKey(false, { description: 'whether the request could be decoded' });

/** The outermost interceptor: a unary call that gets here could be decoded; a stream's messages come later. */
export const noteDecoded: Interceptor = (next) => (request) => {
  request.contextValues.set(decoded, true);
  return next(request.stream ? { ...request, message: blamingSender(request.message) } : request);
};

async function* blamingSender<T>(messages: AsyncIterable<T>): AsyncIterable<T> {
  try {
    yield* messages;
  } catch (error) {
    if (!(error instanceof ConnectError) || error.code !== Code.Internal) throw error;
    throw new ConnectError(error.rawMessage, Code.InvalidArgument);
  }
}

/**
 * Connect answers INTERNAL when it cannot decode a message, as if the server were at fault. Such an answer,
 * given before the call began, becomes INVALID_ARGUMENT; any other passes as it is.
 */
export async function blameSender(
  response: UniversalServerResponse,
  values: ContextValues,
): Promise<UniversalServerResponse> {
  if (values.get(decoded) || !response.body) return response;
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const type = response.header?.get('content-type') ?? '';
  // gRPC's status is in the trailers, which are complete only now that the body was read.
  if (response.trailer?.get('grpc-status') === '13') response.trailer.set('grpc-status', '3');
  if (type.startsWith('application/grpc-web')) return { ...response, body: once(inOnlyFrame(body)) };
  if (response.status !== 500) return { ...response, body: once(body) };
  const text = Buffer.from(asInvalid(body.toString()));
  response.header?.set('content-length', String(text.length));
  return { ...response, status: 400, body: once(text) };
}

async function* once(body: Uint8Array): AsyncIterable<Uint8Array> {
  if (body.length > 0) yield body;
}

function asInvalid(text: string): string {
  return text
    .replace('"code":"internal"', '"code":"invalid_argument"')
    .replace('"message":"internal error"', '"message":"the request cannot be decoded"')
    .replace(/^grpc-status: *13(?=\r?$)/im, 'grpc-status: 3');
}

/** An answer that failed before it began is one frame: a byte of flags, four of the length, then text. */
function inOnlyFrame(body: Buffer): Buffer {
  if (body.length < 5 || body.readUInt32BE(1) !== body.length - 5) return body;
  const text = Buffer.from(asInvalid(body.subarray(5).toString()));
  const head = Buffer.from(body.subarray(0, 5));
  head.writeUInt32BE(text.length, 1);
  return Buffer.concat([head, text]);
}
