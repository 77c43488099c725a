import { once } from 'node:events';
import { create } from '@bufbuild/protobuf';
import { StringValueSchema } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { Metadata } from '@grpc/grpc-js';
import { describe, expect, test } from 'vitest';
import { requestedDeadlineMs, takeLongDeadline } from '../../src/server/deadline.js';
import { EchoService } from './echo-service.js';
import { dial, dialHttp2, postJson, request, startServer } from './fixture.js';
import { callUnary, grpcClient, grpcMethod } from './grpc-client.js';

const ECHO = '/holdfast.test.v1.EchoService/Echo';
const large = 'x'.repeat(1024 * 1024 + 1);

describe('message size', () => {
  test('a message of the limit passes, one above is RESOURCE_EXHAUSTED', async () => {
    const { url, port } = await startServer();
    const client = grpcClient(port);
    const fits = create(StringValueSchema, { value: 'x'.repeat(1024 * 1024 - 10) });
    expect((await callUnary(client, EchoService.method.echo, fits)).value.length).toBe(fits.value.length);
    await expect(
      callUnary(client, EchoService.method.echo, create(StringValueSchema, { value: large })),
    ).rejects.toMatchObject({ code: 8 });
    expect(await postJson(url + ECHO, large)).toMatchObject({
      status: 429,
      json: { code: 'resource_exhausted' },
    });
  });

  test('a body without a length is refused with an answer as soon as it is too large', async () => {
    const { url, port, server } = await startServer();
    const chunk = Buffer.alloc(64 * 1024, ' ');
    const http1 = await dial(port);
    http1.socket.write(
      `POST ${ECHO} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
    );
    for (let sent = 0; sent < 20; sent++) {
      http1.socket.write(`${chunk.length.toString(16)}\r\n`);
      http1.socket.write(chunk);
      http1.socket.write('\r\n');
    }
    await expect.poll(http1.received).toMatch(/^HTTP\/1\.1 429 .*resource_exhausted/s);
    http1.socket.destroy();
    const session = await dialHttp2(url);
    const http2 = session.request({ ':method': 'POST', ':path': ECHO, 'content-type': 'application/json' });
    http2.on('error', () => {});
    for (let sent = 0; sent < 20; sent++) http2.write(chunk);
    const [headers] = await once(http2, 'response');
    expect(headers[':status']).toBe(429);
    // The client never ended its side: the server does, or it would hold the stream for ever.
    await once(http2.resume(), 'close');
    session.destroy();
    await expect.poll(() => server.connections).toBe(0);
  });

  test('a small message that unpacks to a large one is refused', async () => {
    const { url } = await startServer();
    const { gzipSync } = await import('node:zlib');
    const res = await fetch(url + ECHO, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body: gzipSync(JSON.stringify(large)),
    });
    expect([res.status, await res.json()]).toMatchObject([429, { code: 'resource_exhausted' }]);
  });
});

describe('deadlines', () => {
  test('a unary deadline over five minutes is INVALID_ARGUMENT, in gRPC and Connect', async () => {
    const { url, port } = await startServer();
    const answer = await postJson(url + ECHO, 'x', { 'connect-timeout-ms': '300001' });
    expect(answer).toMatchObject({
      status: 400,
      json: {
        code: 'invalid_argument',
        message: expect.stringContaining('deadline of 300.001 s is too long'),
      },
    });
    const { path, encode, decode } = grpcMethod(EchoService.method.echo);
    const message = create(StringValueSchema, { value: 'x' });
    const call = (deadline: number) =>
      new Promise((resolve) => {
        grpcClient(port).makeUnaryRequest(
          path,
          encode,
          decode,
          message,
          new Metadata(),
          { deadline },
          (err) => resolve(err?.code ?? 0),
        );
      });
    expect(await call(Date.now() + 3_600_000)).toBe(3);
    expect(await call(Date.now() + 299_000)).toBe(0);
    expect((await postJson(url + ECHO, 'x', { 'connect-timeout-ms': '300000' })).status).toBe(200);
  });

  test('a deadline beyond what a timer can hold is refused on a unary call and none on a stream', async () => {
    const { url } = await startServer();
    expect((await postJson(url + ECHO, 'x', { 'connect-timeout-ms': '9999999999' })).status).toBe(400);
    const client = createClient(EchoService, createConnectTransport({ baseUrl: url, httpVersion: '2' }));
    const ticks = client.tick({ value: 'x' }, { headers: { 'connect-timeout-ms': '9999999999' } });
    const iterator = ticks[Symbol.asyncIterator]();
    await iterator.next();
    const still = new Promise((resolve) => setTimeout(resolve, 100, 'open'));
    expect(await Promise.race([iterator.next().catch((err) => err), still])).toBe('open');
  });

  test('a deadline that passes ends a stream', async () => {
    const { url } = await startServer();
    const client = createClient(EchoService, createConnectTransport({ baseUrl: url, httpVersion: '2' }));
    const ticks = client.tick({ value: 'x' }, { headers: { 'connect-timeout-ms': '100' } });
    const iterator = ticks[Symbol.asyncIterator]();
    await iterator.next();
    await expect(iterator.next()).rejects.toThrow(/deadline_exceeded/);
  });

  test.each([
    ['connect-timeout-ms', '0', 0],
    ['connect-timeout-ms', '9999999999', 9999999999],
    ['connect-timeout-ms', '99999999999', undefined],
    ['connect-timeout-ms', '-1', undefined],
    ['grpc-timeout', '2H', 7_200_000],
    ['grpc-timeout', '6M', 360_000],
    ['grpc-timeout', '1S', 1000],
    ['grpc-timeout', '99999999m', 99_999_999],
    ['grpc-timeout', '5000u', 5],
    ['grpc-timeout', '1000000n', 1],
    ['grpc-timeout', '1', undefined],
    ['grpc-timeout', '123456789S', undefined],
  ])('%s: %s is read as %s ms', (name, value, ms) => {
    expect(requestedDeadlineMs(new Headers({ [name]: value }))).toBe(ms);
  });

  test('a deadline within the limit is left to Connect', () => {
    const header = new Headers({ 'grpc-timeout': '300S' });
    takeLongDeadline(header, true, 300_000);
    expect(header.get('grpc-timeout')).toBe('300S');
  });
});

describe('slow clients', () => {
  const limits = { firstBytesMs: 150, headersMs: 200, requestMs: 300, pingMs: 150 };

  test.each([
    ['says nothing', ''],
    ['stops within the HTTP/2 preface', 'PRI * HTTP'],
    ['never ends its headers', 'GET /healthz HTTP/1.1\r\nhost: x\r\n'],
    [
      'never sends its body',
      `POST ${ECHO} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n`,
    ],
    ['answers no ping', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00'],
  ])('a connection that %s is closed', async (_name, bytes) => {
    const { port, server } = await startServer({ limits });
    const { socket, closed } = await dial(port);
    socket.write(bytes, 'latin1');
    await closed;
    await expect.poll(() => server.connections).toBe(0);
  });

  test('an HTTP/2 request that never ends is reset, the connection lives', async () => {
    const { url } = await startServer({ limits });
    const session = await dialHttp2(url);
    const stream = session.request({ ':method': 'POST', ':path': ECHO, 'content-type': 'application/json' });
    stream.on('error', () => {});
    stream.write('"');
    await once(stream, 'close');
    expect(stream.rstCode).toBe(8);
    expect((await request(session, { ':path': '/healthz' })).status).toBe(200);
  });

  test('a live HTTP/2 connection outlasts many pings', async () => {
    const { url } = await startServer({ limits: { ...limits, pingMs: 250 } });
    const session = await dialHttp2(url);
    for (let pings = 0; pings < 5; pings++) await once(session, 'ping');
    expect((await request(session, { ':path': '/healthz' })).status).toBe(200);
  });
});

test('headers above the limit are refused, in both HTTP versions', async () => {
  const { url } = await startServer();
  const headers = { 'x-large': 'x'.repeat(20_000) };
  expect((await fetch(`${url}/healthz`, { headers })).status).toBe(431);
  const session = await dialHttp2(url);
  const refused = request(session, { ':path': '/healthz', ...headers });
  const status = await refused.then((res) => res.status).catch(() => 'reset');
  expect([431, 'reset']).toContain(status);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
});

test('streams above the limit wait or are refused, none is lost', async () => {
  const { url } = await startServer({ limits: { streamsPerConnection: 2 } });
  const session = await dialHttp2(url);
  await request(session, { ':path': '/healthz' });
  expect(session.remoteSettings.maxConcurrentStreams).toBe(2);
  const answers = Array.from({ length: 10 }, () => request(session, { ':path': '/healthz' }));
  for (const { status } of await Promise.all(answers)) expect(status).toBe(200);
});

test('streamed messages are never compressed, large unary answers are when asked for', async () => {
  const { url } = await startServer();
  const value = 'x'.repeat(5000);
  const unary = await postJson(url + ECHO, value, { 'accept-encoding': 'gzip' });
  expect(unary.headers.get('content-encoding')).toBe('gzip');
  const session = await dialHttp2(url);
  const stream = session.request({
    ':method': 'POST',
    ':path': '/holdfast.test.v1.EchoService/Tick',
    'content-type': 'application/connect+json',
    'connect-accept-encoding': 'gzip',
  });
  stream.on('error', () => {});
  const body = Buffer.from(JSON.stringify(value));
  const head = Buffer.alloc(5);
  head.writeUInt32BE(body.length, 1);
  stream.end(Buffer.concat([head, body]));
  const [[response], [first]] = await Promise.all([once(stream, 'response'), once(stream, 'data')]);
  expect([response['connect-content-encoding'], first[0]]).toEqual([undefined, 0]);
});
