import { once } from 'node:events';
import { request as httpsRequest } from 'node:https';
import { connect as connectTls } from 'node:tls';
import { create } from '@bufbuild/protobuf';
import { StringValueSchema } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { credentials } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { makeCertificate } from './certificate.js';
import { EchoService } from './echo-service.js';
import { dial, dialHttp2, request, startServer } from './fixture.js';
import { callUnary, grpcClient } from './grpc-client.js';

const tls = makeCertificate();

/** GET over HTTP/1.1 and TLS. */
async function get(url: string): Promise<{ status: number | undefined; body: string }> {
  const req = httpsRequest(url, { ca: tls.cert, agent: false }).end();
  const [res] = await once(req, 'response');
  let body = '';
  for await (const chunk of res) body += chunk;
  return { status: res.statusCode, body };
}

test('pages over HTTP/1.1 and HTTP/2', async () => {
  const { url } = await startServer({ tls });
  expect(await get(`${url}/healthz`)).toMatchObject({ status: 200 });
  expect(await get(`${url}/nope`)).toMatchObject({ status: 404 });
  const session = await dialHttp2(url);
  expect(session.alpnProtocol).toBe('h2');
  expect(await request(session, { ':path': '/readyz' })).toMatchObject({ status: 200 });
});

test.each(['1.1', '2'] as const)('calls and streams over HTTP/%s', async (httpVersion) => {
  const { url, server } = await startServer({ tls });
  const nodeOptions = { ca: tls.cert };
  const client = createClient(
    EchoService,
    createConnectTransport({ baseUrl: url, httpVersion, nodeOptions }),
  );
  expect((await client.echo({ value: 'safe' })).value).toBe('safe');
  const ticks = client.tick({ value: 'x' })[Symbol.asyncIterator]();
  await ticks.next();
  const ended = ticks.next().catch((err) => err.message);
  await server.drain();
  expect(await ended).toMatch(/unavailable/);
});

test('an independent gRPC client is served', async () => {
  const { port } = await startServer({ tls });
  const client = grpcClient(port, credentials.createSsl(tls.cert));
  const message = create(StringValueSchema, { value: 'x' });
  expect((await callUnary(client, EchoService.method.echo, message)).value).toBe('x');
});

test('a client that offers no protocol gets HTTP/1.1', async () => {
  const { port } = await startServer({ tls });
  const socket = connectTls({ port, host: '127.0.0.1', ca: tls.cert });
  socket.end('GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 200/);
  socket.destroy();
});

test('cleartext on the TLS port is turned away', async () => {
  const { port, url, server } = await startServer({ tls });
  for (const bytes of [
    'GET / HTTP/1.1\r\nhost: x\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    '\0'.repeat(100),
  ]) {
    const { socket, closed } = await dial(port);
    socket.write(bytes, 'latin1');
    await closed;
  }
  await expect.poll(() => server.connections).toBe(0);
  expect((await get(`${url}/healthz`)).status).toBe(200);
});

test('a handshake that never comes, or stops after it, is closed', async () => {
  const { port, server } = await startServer({
    tls,
    limits: { firstBytesMs: 100, headersMs: 200, pingMs: 100 },
  });
  const silent = await dial(port);
  await silent.closed;
  const idle = connectTls({ port, host: '127.0.0.1', ca: tls.cert });
  await once(idle.resume(), 'close');
  const mute = connectTls({ port, host: '127.0.0.1', ca: tls.cert, ALPNProtocols: ['h2'] });
  await once(mute.resume(), 'close');
  await expect.poll(() => server.connections).toBe(0);
});

test('an unusable certificate is refused when the server is made', async () => {
  await expect(startServer({ tls: { cert: Buffer.from('no'), key: tls.key } })).rejects.toThrow(
    /certificate or key cannot be used/,
  );
});
