import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { create } from '@bufbuild/protobuf';
import { StringValueSchema } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from '@connectrpc/connect-node';
import type { ServiceError } from '@grpc/grpc-js';
import { ServerReflection } from '@holdfast/proto/grpc/reflection/v1/reflection';
import { expect, test } from 'vitest';
import { EchoService } from './echo-service.js';
import { dial, dialHttp2, postJson, startServer } from './fixture.js';
import { grpcClient, grpcMethod } from './grpc-client.js';

const grpc = createGrpcTransport as unknown as typeof createConnectTransport;

/** Milliseconds that a promise takes. */
async function timed(work: Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work;
  return performance.now() - start;
}

test.each([
  ['Connect over HTTP/1.1', createConnectTransport, '1.1'],
  ['Connect over HTTP/2', createConnectTransport, '2'],
  ['gRPC-Web over HTTP/1.1', createGrpcWebTransport, '1.1'],
  ['gRPC over HTTP/2', grpc, '2'],
] as const)('an open stream ends UNAVAILABLE: %s', async (_name, transport, httpVersion) => {
  const { url, server } = await startServer();
  const client = createClient(EchoService, transport({ baseUrl: url, httpVersion }));
  const ticks = client.tick({ value: 'x' })[Symbol.asyncIterator]();
  await ticks.next();
  const ended = ticks.next().catch((err) => err.message);
  expect(await timed(server.drain())).toBeLessThan(2000);
  expect(await ended).toMatch(/^\[unavailable\] the server is shutting down/);
  expect(server.connections).toBe(0);
});

test('to an independent gRPC client, too, an open stream ends UNAVAILABLE', async () => {
  const { port, server } = await startServer();
  const { path, encode, decode } = grpcMethod(EchoService.method.tick);
  const ticks = grpcClient(port).makeServerStreamRequest(path, encode, decode, create(StringValueSchema));
  const ended = new Promise<ServiceError>((resolve) => ticks.once('error', resolve));
  await once(ticks, 'data');
  await server.drain();
  expect(await ended).toMatchObject({ code: 14, details: expect.stringContaining('shutting down') });
});

test('an idle reflection stream ends with the drain', async () => {
  const { url, server } = await startServer();
  const client = createClient(ServerReflection, createGrpcTransport({ baseUrl: url }));
  const asked = new Promise<void>((resolve) => {
    async function* requests() {
      yield { messageRequest: { case: 'listServices' as const, value: '' } };
      await new Promise(() => {});
    }
    (async () => {
      for await (const _ of client.serverReflectionInfo(requests())) resolve();
    })().catch(() => {});
  });
  await asked;
  expect(await timed(server.drain())).toBeLessThan(2000);
});

test('a unary call in flight is answered, over HTTP/1.1 and HTTP/2', async () => {
  for (const httpVersion of ['1.1', '2'] as const) {
    const { url, server, holding, release } = await startServer();
    const client = createClient(EchoService, createConnectTransport({ baseUrl: url, httpVersion }));
    const call = client.hold({ value: 'work' });
    await holding;
    const drained = server.drain();
    await expect(fetch(url)).rejects.toThrow();
    release();
    expect((await call).value).toBe('work');
    expect(await timed(drained)).toBeLessThan(2000);
  }
});

test('idle connections do not hold the drain up', async () => {
  const { url, port, server } = await startServer();
  await fetch(`${url}/healthz`).then((res) => res.text());
  const idle = await dialHttp2(url);
  const silent = await dial(port);
  expect(server.connections).toBeGreaterThanOrEqual(2);
  expect(await timed(server.drain())).toBeLessThan(1000);
  await silent.closed;
  if (!idle.closed) await once(idle, 'close');
});

test('an HTTP/2 client is told by GOAWAY', async () => {
  const { url, server } = await startServer();
  const session = await dialHttp2(url);
  const goaway = once(session, 'goaway');
  await server.drain();
  expect((await goaway)[0]).toBe(0);
});

test('what is stuck is cut at the deadline', async () => {
  const { url, port, server, holding } = await startServer();
  // A call that never ends, a stream whose reader reads nothing, half a request.
  const call = postJson(`${url}/holdfast.test.v1.EchoService/Hold`, 'x').catch(() => 'cut');
  await holding;
  const stuck = connectHttp2(url, { settings: { initialWindowSize: 0 } });
  stuck.on('error', () => {});
  const stream = stuck.request({
    ':method': 'POST',
    ':path': '/holdfast.test.v1.EchoService/Tick',
    'content-type': 'application/grpc',
  });
  stream.on('error', () => {});
  stream.end(Buffer.from([0, 0, 0, 0, 0]));
  const half = await dial(port);
  half.socket.write(
    'POST /holdfast.test.v1.EchoService/Echo HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n"x',
  );
  await once(stream, 'response');
  const took = await timed(server.drain(300));
  expect(took).toBeGreaterThan(280);
  expect(took).toBeLessThan(2000);
  expect(server.connections).toBe(0);
  expect(await call).toBe('cut');
});

test('drain can be called twice, and before listen', async () => {
  const { server } = await startServer();
  const first = server.drain();
  expect(server.drain()).toBe(first);
  await first;
  const { createHoldfastServer } = await import('../../src/server.js');
  const { pino } = await import('pino');
  await createHoldfastServer({
    routes: () => {},
    ready: async () => ({ ok: true }),
    metrics: async () => ({ contentType: 'text/plain', body: '' }),
    log: pino({ level: 'silent' }),
  }).drain();
});

test('while it drains, a connection that is still open is told that the server is not ready', async () => {
  const { url, server, holding, release } = await startServer();
  const session = await dialHttp2(url);
  const hold = session.request({
    ':method': 'POST',
    ':path': '/holdfast.test.v1.EchoService/Hold',
    'content-type': 'application/json',
  });
  hold.resume().end('"x"');
  await holding;
  const half = await dial(Number(new URL(url).port));
  half.socket.write('GET /readyz HTTP/1.1\r\n');
  await new Promise((resolve) => setTimeout(resolve, 50));
  const drained = server.drain();
  half.socket.write('host: x\r\n\r\n');
  await half.closed;
  expect(half.received()).toMatch(/ 503 .*connection: close.*shutting down/is);
  release();
  await drained;
});
