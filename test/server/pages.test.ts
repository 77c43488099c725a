import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { dial, dialHttp2, postJson, request, startServer } from './fixture.js';

test.each(['/healthz', '/readyz', '/metrics'])(
  '%s answers over HTTP/1.1 and HTTP/2, GET and HEAD',
  async (path) => {
    const { url } = await startServer();
    const get = await fetch(url + path);
    const body = await get.text();
    expect(get.status).toBe(200);
    expect(body).not.toBe('');
    const head = await fetch(url + path, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(body.length)]);
    const session = await dialHttp2(url);
    expect(await request(session, { ':path': path })).toMatchObject({ status: 200, body });
    expect(await request(session, { ':path': path, ':method': 'HEAD' })).toMatchObject({
      status: 200,
      body: '',
    });
  },
);

test('metrics keep their content type', async () => {
  const { url } = await startServer();
  const res = await fetch(`${url}/metrics?name=x`);
  expect([res.headers.get('content-type'), await res.text()]).toEqual([
    'text/plain; version=0.0.4',
    'up 1\n',
  ]);
});

test('a server that is not ready says why, and is alive', async () => {
  const { url } = await startServer({ ready: async () => ({ ok: false, reason: 'the database is away' }) });
  const ready = await fetch(`${url}/readyz`);
  expect([ready.status, await ready.json()]).toEqual([
    503,
    { status: 'not ready', reason: 'the database is away' },
  ]);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
});

test('a readiness check that throws or hangs is not ready, without details', async () => {
  const throws = await startServer({ ready: () => Promise.reject(new Error('password=hunter2')) });
  const failed = await fetch(`${throws.url}/readyz`);
  expect([failed.status, (await failed.text()).includes('hunter2')]).toEqual([503, false]);
  const hangs = await startServer({ ready: () => new Promise(() => {}), limits: { readyMs: 20 } });
  expect(await (await fetch(`${hangs.url}/readyz`)).json()).toMatchObject({
    reason: expect.stringContaining('longer than 20 ms'),
  });
});

test('many probes cost one readiness check', async () => {
  let checks = 0;
  const { url } = await startServer({
    ready: async () => {
      checks++;
      return { ok: true };
    },
  });
  await Promise.all(Array.from({ length: 10 }, () => fetch(`${url}/readyz`)));
  expect(checks).toBeLessThan(10);
});

test('the wrong method is 405 with the right ones', async () => {
  const { url } = await startServer();
  const res = await fetch(`${url}/healthz`, { method: 'POST', body: 'x' });
  expect([res.status, res.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
});

test.each(['/', '/nope', '//healthz', '/%00'])('%s is 404 and says what exists', async (path) => {
  const { url } = await startServer();
  const session = await dialHttp2(url);
  const res = await request(session, { ':path': path });
  expect(res.status).toBe(404);
  expect(JSON.parse(res.body)).toMatchObject({ pages: ['/healthz', '/readyz', '/metrics'] });
});

test('pages of others come after our own and before 404', async () => {
  const { url } = await startServer({
    pages: (req, res) => {
      if (req.url === '/broken') throw new Error('secret');
      if (req.url !== '/board' && req.url !== '/healthz') return false;
      res.end('the board');
      return true;
    },
  });
  expect(await (await fetch(`${url}/board`)).text()).toBe('the board');
  expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ status: 'ok' });
  expect((await fetch(`${url}/other`)).status).toBe(404);
});

test('a page that throws is 500 without details, and logged', async () => {
  const { url, logs } = await startServer({ metrics: () => Promise.reject(new Error('the secret')) });
  const res = await fetch(`${url}/metrics`);
  expect([res.status, await res.json()]).toEqual([500, { code: 'internal', message: 'internal error' }]);
  expect(logs.join('')).toContain('the secret');
});

test('a page that throws after it began to answer ends the response, not the server', async () => {
  const { url } = await startServer({
    pages: async (_req, res) => {
      res.setHeader('content-length', 100);
      (res as ServerResponse).write('half');
      throw new Error('broken');
    },
  });
  await expect(fetch(`${url}/half`).then((res) => res.text())).rejects.toThrow();
  const session = await dialHttp2(url);
  await expect(request(session, { ':path': '/half' })).rejects.toThrow();
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
});

test('HTTP/1.0 without a Host gets its page, and a 400 for an RPC', async () => {
  const { port } = await startServer();
  const page = await dial(port);
  page.socket.write('GET /healthz HTTP/1.0\r\n\r\n');
  await page.closed;
  expect(page.received()).toMatch(/ 200 OK/);
  const rpc = await dial(port);
  rpc.socket.write('POST /grpc.health.v1.Health/Check HTTP/1.0\r\ncontent-length: 0\r\n\r\n');
  await rpc.closed;
  expect(rpc.received()).toMatch(/ 400 Bad Request.*no usable Host/s);
});

test('a health check by POST is an RPC, not a page', async () => {
  const { url } = await startServer();
  expect(await postJson(`${url}/grpc.health.v1.Health/Check`, {})).toMatchObject({
    status: 200,
    json: { status: 'SERVING' },
  });
});
