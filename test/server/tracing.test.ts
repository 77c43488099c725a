import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTracing } from '../../src/tracing.js';
import { callJson, startServe } from '../config/serve-process.js';
import { createTestDatabase } from '../support/postgres.js';
import { startTestService } from '../support/service.js';

interface ToldSpan {
  name: string;
  traceId: string;
  parentSpanId?: string;
  kind: number;
  status: { code?: number };
  attributes: { key: string; value: { stringValue?: string } }[];
}

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const traceparent = `00-${TRACE}-${PARENT}-01`;

/** An OTLP/HTTP receiver on the loopback. */
const received: { path: string; service: string | undefined; spans: ToldSpan[] }[] = [];
const receiver = createServer(async (request: IncomingMessage, response) => {
  // biome-ignore lint/suspicious/noExplicitAny: what the exporter sends is looked into, field by field
  const body = (await json(request)) as any;
  for (const { resource, scopeSpans } of body.resourceSpans) {
    const named = resource.attributes.find(({ key }: { key: string }) => key === 'service.name');
    const spans = scopeSpans.flatMap((scope: { spans: ToldSpan[] }) => scope.spans);
    received.push({ path: request.url ?? '', service: named?.value.stringValue, spans });
  }
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
});
let endpoint: string;
beforeAll(async () => {
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  endpoint = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
});
afterAll(() => {
  receiver.closeAllConnections();
  receiver.close();
});

const spansOf = (traceId: string) =>
  received.flatMap(({ spans }) => spans).filter((span) => span.traceId === traceId);
const attribute = (span: ToldSpan | undefined, key: string) =>
  span?.attributes.find((one) => one.key === key)?.value.stringValue;

async function call(url: string, rpc: string, request: object, token: string, trace = traceparent) {
  return fetch(`${url}/holdfast.v1.${rpc}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, traceparent: trace },
    body: JSON.stringify(request),
  });
}

test('every RPC is a span of its caller’s trace, with its request id and what came of it', async () => {
  const tracing = await startTracing({ endpoint, share: 1 });
  const service = await startTestService({ tracing });
  await call(
    service.url,
    'TaskService/CreateTask',
    { title: 'secret title', requestId: 'once-1' },
    service.ownerToken,
  );
  await call(service.url, 'TaskService/GetTask', { taskId: 'none' }, service.ownerToken);
  await call(service.url, 'ProjectService/WhoAmI', {}, `hf_${'a'.repeat(43)}`);
  await tracing.stop();
  const spans = spansOf(TRACE);
  expect(spans.map(({ name }) => name)).toEqual([
    'holdfast.v1.TaskService/CreateTask',
    'holdfast.v1.TaskService/GetTask',
    'holdfast.v1.ProjectService/WhoAmI',
  ]);
  for (const span of spans) expect(span).toMatchObject({ parentSpanId: PARENT, kind: 2 });
  expect(spans.map((span) => attribute(span, 'rpc.connect_rpc.error_code'))).toEqual([
    undefined,
    'not_found',
    'unauthenticated',
  ]);
  expect(attribute(spans[0], 'holdfast.request_id')).toBe('once-1');
  expect(attribute(spans[0], 'rpc.method')).toBe('CreateTask');
  expect(received.map(({ path, service: name }) => [path, name])).toContainEqual(['/v1/traces', 'holdfast']);
  expect(JSON.stringify(received)).not.toMatch(/secret title|hf_/);
});

test('a stream is one span, from its beginning to its end', async () => {
  const tracing = await startTracing({ endpoint, share: 1 });
  const service = await startTestService({ tracing });
  const other = TRACE.replace('0af', '1bf');
  const response = await fetch(`${service.url}/holdfast.v1.LeaseService/WatchLeases`, {
    method: 'POST',
    headers: {
      'content-type': 'application/connect+json',
      authorization: `Bearer ${service.ownerToken}`,
      traceparent: `00-${other}-${PARENT}-01`,
    },
    body: Buffer.from([0, 0, 0, 0, 2, ...Buffer.from('{}')]),
  });
  const reader = response.body?.getReader();
  await reader?.read();
  await service.stop();
  await reader?.cancel().catch(() => {});
  await tracing.stop();
  expect(spansOf(other)).toMatchObject([{ name: 'holdfast.v1.LeaseService/WatchLeases' }]);
});

test.each([
  ['none', ''],
  ['garbage', 'x'.repeat(5_000)],
  ['of zeros', `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01`],
  ['too short', '00-abc-def-01'],
])('a traceparent that is %s begins a trace of its own', async (_, header) => {
  const tracing = await startTracing({ endpoint, share: 1 });
  const service = await startTestService({ tracing });
  const before = received.length;
  expect((await call(service.url, 'ProjectService/WhoAmI', {}, service.ownerToken, header)).status).toBe(200);
  await tracing.stop();
  const [span] = received.slice(before).flatMap(({ spans }) => spans);
  expect(span?.traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(span?.parentSpanId ?? '').toBe('');
});

test('holdfast serve traces when it is told where to, logs the ids, and does not wait for a receiver that is away', async () => {
  const { url: DATABASE_URL } = await createTestDatabase();
  const third = TRACE.replace('0af', '2cf');
  const server = startServe({
    env: { DATABASE_URL, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, LOG_LEVEL: 'debug' },
  });
  const { url } = await server.ready;
  await call(
    url,
    'TaskService/CreateTask',
    { title: 'x', requestId: 'once-2' },
    server.ownerToken(),
    `00-${third}-${PARENT}-01`,
  );
  expect((await server.stop()).code).toBe(0);
  expect(spansOf(third)).toMatchObject([{ name: 'holdfast.v1.TaskService/CreateTask' }]);
  const lines = server
    .stderr()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
  expect(lines).toContainEqual(
    expect.objectContaining({ rpc: 'TaskService/CreateTask', trace_id: third, request_id: 'once-2' }),
  );

  const away = startServe({ env: { DATABASE_URL, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' } });
  const { url: there } = await away.ready;
  expect((await callJson(there, 'ProjectService/WhoAmI', {}, server.ownerToken())).status).toBe(200);
  expect((await away.stop()).code).toBe(0);
});
