import { once } from 'node:events';
import { create } from '@bufbuild/protobuf';
import { StringValueSchema } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from '@connectrpc/connect-node';
import { expect, test } from 'vitest';
import { httpVersionOf } from '../../src/server/preface.js';
import { EchoService } from './echo-service.js';
import { dial, dialHttp2, postJson, request, startServer } from './fixture.js';
import { callUnary, grpcClient } from './grpc-client.js';

const ECHO = '/holdfast.test.v1.EchoService/Echo';
const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
const EMPTY_SETTINGS = '\x00\x00\x00\x04\x00\x00\x00\x00\x00';

test('Connect works over HTTP/1.1, by POST and, where nothing changes, by GET', async () => {
  const { url } = await startServer();
  const post = await postJson(url + ECHO, 'hello');
  expect(post).toMatchObject({ status: 200, json: 'hello' });
  const query = new URLSearchParams({ encoding: 'json', message: '"again"' });
  const get = await fetch(`${url}${ECHO}?${query}`);
  expect([get.status, await get.json()]).toEqual([200, 'again']);
});

test('a GET on an RPC that changes something is refused, with the method to use', async () => {
  const { url } = await startServer();
  const res = await fetch(`${url}/holdfast.test.v1.EchoService/Hold?encoding=json&message=""`);
  expect(res.status).toBe(405);
  expect(res.headers.get('allow')).toBe('POST');
});

test('Connect works over cleartext HTTP/2', async () => {
  const { url } = await startServer();
  const session = await dialHttp2(url);
  const headers = { ':method': 'POST', ':path': ECHO, 'content-type': 'application/json' };
  expect(await request(session, headers, '"two"')).toMatchObject({ status: 200, body: '"two"' });
});

test.each([
  ['Connect', 'HTTP/1.1', () => createConnectTransport, '1.1'],
  ['Connect', 'HTTP/2', () => createConnectTransport, '2'],
  ['gRPC-Web', 'HTTP/1.1', () => createGrpcWebTransport, '1.1'],
  ['gRPC-Web', 'HTTP/2', () => createGrpcWebTransport, '2'],
  ['gRPC', 'HTTP/2', () => createGrpcTransport as unknown as typeof createConnectTransport, '2'],
] as const)('unary calls and streams over %s and %s', async (_protocol, _http, transport, httpVersion) => {
  const { url } = await startServer();
  const client = createClient(EchoService, transport()({ baseUrl: url, httpVersion }));
  expect((await client.echo({ value: 'hi' })).value).toBe('hi');
  const abort = new AbortController();
  for await (const tick of client.tick({ value: 'first' }, { signal: abort.signal })) {
    expect(tick.value).toBe('first');
    break;
  }
  abort.abort();
});

test('an independent gRPC client is served', async () => {
  const { port } = await startServer();
  const answer = await callUnary(
    grpcClient(port),
    EchoService.method.echo,
    create(StringValueSchema, { value: 'x' }),
  );
  expect(answer.value).toBe('x');
});

test('the HTTP/2 preface is recognised byte by byte', async () => {
  const { port } = await startServer();
  const { socket, received } = await dial(port);
  socket.setNoDelay(true);
  for (const byte of PREFACE + EMPTY_SETTINGS) {
    socket.write(byte, 'latin1');
    await new Promise(setImmediate);
  }
  if (!received()) await once(socket, 'data');
  // A SETTINGS frame is the first thing an HTTP/2 server says.
  expect(received().charCodeAt(3)).toBe(4);
});

test('an HTTP/1.1 request that begins like the preface and comes in pieces is served', async () => {
  const { port } = await startServer();
  const { socket, received, closed } = await dial(port);
  for (const byte of 'PROPFIND /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n') {
    socket.write(byte);
    await new Promise(setImmediate);
  }
  await closed;
  expect(received()).toMatch(/^HTTP\/1\.1 405 /);
});

test('the version is decided as soon as it can be', () => {
  expect(httpVersionOf(Buffer.from(''))).toBeUndefined();
  expect(httpVersionOf(Buffer.from('P'))).toBeUndefined();
  expect(httpVersionOf(Buffer.from(PREFACE.slice(0, -1)))).toBeUndefined();
  expect(httpVersionOf(Buffer.from(PREFACE))).toBe(2);
  expect(httpVersionOf(Buffer.from(`${PREFACE}more`))).toBe(2);
  expect(httpVersionOf(Buffer.from('PRI * HTTP/1.1'))).toBe(1);
  expect(httpVersionOf(Buffer.from('G'))).toBe(1);
});

test('an RPC that does not exist is UNIMPLEMENTED in each protocol', async () => {
  const { port, url } = await startServer();
  const missing = await postJson(`${url}/holdfast.test.v1.EchoService/Nope`, {});
  expect(missing).toMatchObject({ status: 404, json: { code: 'unimplemented' } });
  const method = { ...EchoService.method.echo, name: 'Nope' };
  await expect(callUnary(grpcClient(port), method, create(StringValueSchema))).rejects.toMatchObject({
    code: 12,
    details: expect.stringContaining('nothing is served at /holdfast.test.v1.EchoService/Nope'),
  });
});

test('interceptors surround the API, but neither health nor reflection', async () => {
  const seen: string[] = [];
  const { url } = await startServer({
    interceptors: [
      (next) => (req) => {
        seen.push(req.method.name);
        return next(req);
      },
    ],
  });
  await postJson(url + ECHO, 'x');
  await postJson(`${url}/grpc.health.v1.Health/Check`, {});
  expect(seen).toEqual(['Echo']);
});

test('no page of another origin may read an answer', async () => {
  const { url } = await startServer();
  const preflight = await fetch(url + ECHO, {
    method: 'OPTIONS',
    headers: { origin: 'https://elsewhere.example', 'access-control-request-method': 'POST' },
  });
  const call = await postJson(url + ECHO, 'x', { origin: 'https://elsewhere.example' });
  for (const res of [preflight, call]) {
    expect([...res.headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
  }
  expect(preflight.status).toBe(405);
});

test('a taken port is explained', async () => {
  const { port } = await startServer();
  const { createHoldfastServer } = await import('../../src/server.js');
  const { pino } = await import('pino');
  const second = createHoldfastServer({
    routes: () => {},
    ready: async () => ({ ok: true }),
    metrics: async () => ({ contentType: 'text/plain', body: '' }),
    log: pino({ level: 'silent' }),
  });
  await expect(second.listen('127.0.0.1', port)).rejects.toThrow(/port is taken/);
  await second.drain();
});
