import { once } from 'node:events';
import { connect as connectTls } from 'node:tls';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { dial, dialHttp2, startServer } from './fixture.js';

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

// An error that nobody catches would end the real process: here it fails the test.
const uncaught: unknown[] = [];
const note = (err: unknown) => void uncaught.push(err);
beforeEach(() => {
  uncaught.length = 0;
  process.on('uncaughtExceptionMonitor', note).on('unhandledRejection', note);
});
afterEach(() => {
  process.off('uncaughtExceptionMonitor', note).off('unhandledRejection', note);
});

test.each([
  ['zeros', '\0'.repeat(5000)],
  ['noise', Array.from({ length: 3000 }, (_, i) => String.fromCharCode((i * 7919) % 256)).join('')],
  ['a wrong preface', 'PRI * HTTP/3.0\r\n\r\nSM\r\n\r\n'],
  ['garbage after the preface', PREFACE + 'x'.repeat(5000)],
  ['a frame that is too large', `${PREFACE}\xff\xff\xff\x04\x00\x00\x00\x00\x00`],
  ['a request on stream 0', `${PREFACE}\0\0\0\x04\0\0\0\0\0\0\0\x01\x01\x05\0\0\0\0\x82`],
  ['a request without a path', 'GET\r\n\r\n'],
  ['two content lengths', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n'],
  [
    'a length and chunks',
    'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n',
  ],
  ['a negative length', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n'],
  ['a NUL in a header', 'GET / HTTP/1.1\r\nhost: x\0y\r\n\r\n'],
  ['a proxy request', 'CONNECT example.com:443 HTTP/1.1\r\nhost: example.com\r\n\r\n'],
  [
    'a Host that is none',
    'POST /grpc.health.v1.Health/Check HTTP/1.1\r\nhost: [[\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}',
  ],
  ['an upgrade', 'GET /nope HTTP/1.1\r\nhost: x\r\nconnection: upgrade, close\r\nupgrade: h2c\r\n\r\n'],
])('%s: the connection ends, the server goes on', async (_name, bytes) => {
  const { port, url, server } = await startServer({ limits: { headersMs: 300, pingMs: 300 } });
  const { socket, closed } = await dial(port);
  socket.write(bytes, 'latin1');
  await closed;
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect(uncaught).toEqual([]);
  expect(server.connections).toBeLessThanOrEqual(1);
});

test('connections that break off at any point leave nothing behind', async () => {
  const { port, url, server } = await startServer();
  const request = `POST /holdfast.test.v1.EchoService/Tick HTTP/1.1\r\nhost: x\r\ncontent-type: application/connect+json\r\ncontent-length: 7\r\n\r\n\0\0\0\0\x02""`;
  for (const bytes of [request, `${PREFACE}\0\0\0\x04\0\0\0\0\0`]) {
    for (let length = 0; length <= bytes.length; length += 5) {
      const { socket } = await dial(port);
      socket.write(bytes.slice(0, length), 'latin1');
      if (length % 2) socket.resetAndDestroy();
      else socket.destroy();
    }
  }
  await expect.poll(() => server.connections).toBe(0);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect(uncaught).toEqual([]);
});

test.each(['', 'PRI', 'GET / HTTP/1.1\r\n', `${PREFACE}\0\0\0\x04\0\0\0\0\0`])(
  'a reset after %j is no error',
  async (bytes) => {
    const { port, server } = await startServer();
    const { socket } = await dial(port);
    socket.write(bytes, 'latin1');
    await expect.poll(() => server.connections).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    socket.resetAndDestroy();
    await expect.poll(() => server.connections).toBe(0);
    expect(uncaught).toEqual([]);
  },
);

test('a client that only closes its own side is let go', async () => {
  const { port, server } = await startServer();
  for (const bytes of ['', 'PRI', 'GET / HTTP/1.1\r\n', `${PREFACE}\0\0\0\x04\0\0\0\0\0`]) {
    const { socket, closed } = await dial(port);
    socket.end(bytes, 'latin1');
    await closed;
  }
  await expect.poll(() => server.connections).toBe(0);
});

test('streams of a client that vanishes are ended', async () => {
  const { url, server } = await startServer();
  const session = await dialHttp2(url);
  const streams = Array.from({ length: 50 }, () => {
    const stream = session.request({
      ':method': 'POST',
      ':path': '/holdfast.test.v1.EchoService/Tick',
      'content-type': 'application/grpc',
    });
    stream.on('error', () => {});
    stream.end(Buffer.alloc(5));
    return once(stream, 'response');
  });
  await Promise.all(streams);
  session.destroy();
  await expect.poll(() => server.connections).toBe(0);
  expect(uncaught).toEqual([]);
});

test('calls opened and reset at once do no harm', async () => {
  const { url } = await startServer();
  const session = await dialHttp2(url);
  for (let i = 0; i < 200; i++) {
    const stream = session.request({
      ':method': 'POST',
      ':path': '/holdfast.test.v1.EchoService/Echo',
      'content-type': 'application/json',
    });
    stream.on('error', () => {});
    stream.close(8);
  }
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect(uncaught).toEqual([]);
});

test('a TLS client on the cleartext port is turned away', async () => {
  const { port, url, server } = await startServer();
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
  await expect(once(socket, 'secureConnect')).rejects.toThrow();
  await expect.poll(() => server.connections).toBe(0);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
});

test.each(['page', 'rpc'] as const)(
  'a client that leaves before its %s is ready does no harm',
  async (kind) => {
    const asked: Array<() => void> = [];
    const { url, holding, release, logs } = await startServer({
      pages: async (_req, res) => {
        await new Promise<void>((resolve) => asked.push(resolve));
        res.setHeader('content-type', 'text/plain');
        res.end('too late');
        return true;
      },
    });
    const session = await dialHttp2(url);
    const path = kind === 'page' ? '/slow' : '/holdfast.test.v1.EchoService/Hold';
    const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/json' });
    stream.on('error', () => {});
    stream.end('"x"');
    const abort = new AbortController();
    const http1 = fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '"x"',
      signal: abort.signal,
    }).catch(() => 'left');
    if (kind === 'page') await expect.poll(() => asked.length).toBe(2);
    else await holding;
    const closed = once(stream, 'close');
    session.destroy();
    abort.abort();
    expect(await http1).toBe('left');
    await closed;
    await expect.poll(async () => (await fetch(`${url}/healthz`)).status).toBe(200);
    release();
    for (const answer of asked) answer();
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect(uncaught).toEqual([]);
    expect(
      logs.filter((line) => line.includes('could not be answered') && line.includes('"level":50')),
    ).toEqual([]);
  },
);
