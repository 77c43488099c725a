import { type DescMethod, fromJson, type JsonValue, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { type Json, messageJson } from './values.js';

/** A request as it goes over the wire. */
export interface WireRequest {
  readonly method: 'POST' | 'GET' | 'PUT';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

type Wire = Omit<WireRequest, 'path'> & { readonly query?: string };

const STREAM = 'connect+';
/** A stream that finds no fault with its request would go on for ever. */
const SOON = { 'connect-timeout-ms': '300', 'grpc-timeout': '300m' };

/** A message between the five bytes that gRPC and streams put before it. */
function enveloped(message: Buffer, flags = 0): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags, 0);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** The binary form, where there is one: JSON that no message can be made of has none. */
function binaryOf(method: DescMethod, json: Json): Buffer | undefined {
  try {
    return Buffer.from(toBinary(method.input, fromJson(method.input, json as JsonValue)));
  } catch {
    return undefined;
  }
}

const post = (contentType: string, body: Buffer, headers = {}): Wire => ({
  method: 'POST',
  headers: { 'content-type': contentType, ...headers },
  body,
});

const isStream = (method: DescMethod) => method.methodKind !== 'unary';

const jsonPost = (method: DescMethod, body: string): Wire =>
  isStream(method)
    ? post(`application/${STREAM}json`, enveloped(Buffer.from(body)))
    : post('application/json', Buffer.from(body));

const binaryPost = (method: DescMethod, protocol: 'connect' | 'grpc' | 'grpc-web', message: Buffer): Wire => {
  if (protocol === 'grpc') return post('application/grpc+proto', enveloped(message), { te: 'trailers' });
  if (protocol === 'grpc-web') return post('application/grpc-web+proto', enveloped(message));
  return isStream(method)
    ? post(`application/${STREAM}proto`, enveloped(message))
    : post('application/proto', message);
};

const protocol = fc.constantFrom('connect' as const, 'grpc' as const, 'grpc-web' as const);
const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array));

const deep = fc.constantFrom(
  '['.repeat(20_000),
  `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
  `${'{"proof":'.repeat(3_000)}{}${'}'.repeat(3_000)}`,
  '{"title":"x","title":"y"}',
  '{"a":'.repeat(9_000),
  '"',
  '',
  'null',
  'NaN',
  '{"ttl":NaN}',
  '\ufeff{}',
);

/** Field 1000 to 1010 of every wire type, some of them broken, and groups that never end. */
const strange = fc
  .array(
    fc.oneof(
      fc
        .tuple(fc.integer({ min: 1, max: 1010 }), fc.integer({ min: 0, max: 7 }))
        .map(([no, type]) => varint(no * 8 + type)),
      bytes,
      fc.constant(Buffer.alloc(11, 0xff)),
      fc.constant(Buffer.alloc(400, 0x0b)),
    ),
    { maxLength: 6 },
  )
  .map((parts) => Buffer.concat(parts));

function varint(value: number): Buffer {
  const out: number[] = [];
  let rest = value;
  while (rest > 0x7f) {
    out.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  return Buffer.from([...out, rest]);
}

/** Requests of one RPC, well-formed and not. */
export function wireRequests(method: DescMethod): fc.Arbitrary<WireRequest> {
  const json = messageJson(method.input);
  const asJson = json.map((value): Wire => jsonPost(method, JSON.stringify(value)));
  const asBinary = fc.tuple(json, protocol).map(([value, protocol]): Wire => {
    const message = binaryOf(method, value);
    return message ? binaryPost(method, protocol, message) : jsonPost(method, JSON.stringify(value));
  });
  const truncated = fc
    .tuple(json, protocol, fc.double({ min: 0, max: 1, noNaN: true }))
    .map(([value, protocol, at]): Wire => {
      const message = binaryOf(method, value) ?? Buffer.from(JSON.stringify(value));
      return binaryPost(method, protocol, message.subarray(0, Math.floor(message.length * at)));
    });
  const garbage = fc
    .tuple(fc.oneof(bytes, strange), protocol)
    .map(([body, protocol]) => binaryPost(method, protocol, body));
  const brokenFrame = fc
    .tuple(fc.oneof(bytes, strange), fc.constantFrom('grpc', 'grpc-web', 'connect+proto', 'connect+json'))
    .map(([body, type]): Wire => post(`application/${type}`, body));
  const flagged = fc
    .tuple(bytes, fc.constantFrom(1, 2, 4, 0x80, 0xff), fc.constantFrom('grpc', 'grpc-web'))
    .map(([body, flags, type]): Wire => post(`application/${type}`, enveloped(body, flags)));
  const odd = fc
    .record({
      type: fc.constantFrom(
        'text/plain',
        '',
        'application/x',
        'application/json; charset=utf-16',
        'application/xml',
      ),
      encoding: fc.constantFrom('gzip', 'br', 'zip', 'identity', 'gzip, gzip'),
      timeout: fc.constantFrom('0', '-1', '1', 'x', '99999999999', '300001', '10000'),
      body: bytes,
    })
    .map(
      ({ type, encoding, timeout, body }): Wire =>
        post(type, body, { 'content-encoding': encoding, 'connect-timeout-ms': timeout }),
    );
  const query = fc
    .tuple(
      json,
      fc.constantFrom('json', 'proto', 'x'),
      fc.constantFrom('0', '1', 'x'),
      fc.constantFrom('gzip', ''),
    )
    .map(([value, encoding, base64, compression]): Wire => {
      const params = {
        encoding,
        base64,
        compression,
        message: JSON.stringify(value).slice(0, 1_000),
        connect: 'v1',
      };
      return { method: 'GET', headers: {}, body: undefined, query: `?${new URLSearchParams(params)}` };
    });
  const wrongMethod = fc.constant<Wire>({
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from('{}'),
  });

  return fc
    .oneof(
      { weight: 40, arbitrary: asJson },
      { weight: 25, arbitrary: asBinary },
      { weight: 6, arbitrary: truncated },
      { weight: 6, arbitrary: garbage },
      { weight: 4, arbitrary: brokenFrame },
      { weight: 3, arbitrary: flagged },
      { weight: 3, arbitrary: odd },
      { weight: 4, arbitrary: deep.map((body) => jsonPost(method, body)) },
      { weight: 6, arbitrary: query },
      { weight: 1, arbitrary: wrongMethod },
    )
    .map(({ query = '', headers, ...wire }) => ({
      ...wire,
      headers: isStream(method) ? { ...SOON, ...headers } : headers,
      path: `/${method.parent.typeName}/${method.name}${query}`,
    }));
}
