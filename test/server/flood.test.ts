import { connect as connectHttp2 } from 'node:http2';
import { expect, onTestFinished, test } from 'vitest';
import { dial, dialHttp2, postJson, request, startServer } from './fixture.js';

const ECHO = '/holdfast.test.v1.EchoService/Echo';
const TICK = '/holdfast.test.v1.EchoService/Tick';

/** Calls that are answered while others misbehave. */
async function expectServed(url: string): Promise<void> {
  const session = await dialHttp2(url);
  for (let i = 0; i < 10; i++) {
    expect(await postJson(`${url}${ECHO}`, 'hello')).toMatchObject({ status: 200, json: 'hello' });
    expect((await request(session, { ':path': '/readyz' })).status).toBe(200);
  }
}

test('many that send next to nothing stop nobody, and are let go', async () => {
  const { url, port, server } = await startServer({
    limits: { firstBytesMs: 2_000, headersMs: 2_000, requestMs: 2_000 },
  });
  const slow = await Promise.all(
    Array.from({ length: 200 }, async (_, i) => {
      const one = await dial(port);
      const beginnings = [
        '',
        'PRI * HT',
        'GET /healthz HTTP/1.1\r\nhost: x\r\nx-y: ',
        `POST ${ECHO} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 90\r\n\r\n"`,
      ];
      one.socket.write(beginnings[i % beginnings.length] ?? '');
      return one;
    }),
  );
  await expect.poll(() => server.connections).toBe(200);
  await expectServed(url);
  // A byte now and then does not keep them: it is the whole that must come in time.
  const drip = setInterval(() => {
    for (const { socket } of slow) if (!socket.destroyed) socket.write('a');
  }, 100);
  onTestFinished(() => clearInterval(drip));
  await Promise.all(slow.map(({ closed }) => closed));
});

test('a connection with as many streams as it may have takes nothing from the others', async () => {
  const { url } = await startServer({ limits: { streamsPerConnection: 200 } });
  const session = await dialHttp2(url);
  const frame = Buffer.from([0, 0, 0, 0, 3, ...Buffer.from('"x"')]);
  const streams = Array.from({ length: 300 }, () => {
    const stream = session.request({
      ':method': 'POST',
      ':path': TICK,
      'content-type': 'application/connect+json',
    });
    stream.on('error', () => {});
    stream.end(frame);
    return stream;
  });
  let answered = 0;
  for (const stream of streams) stream.once('response', () => answered++);
  await expect.poll(() => answered, { timeout: 20_000 }).toBe(200);
  await expectServed(url);
  expect(answered).toBe(200);
});

test('streams opened and reset at once, from several connections, stop nobody', async () => {
  const { url } = await startServer();
  const sessions = Array.from({ length: 2 }, () => connectHttp2(url));
  onTestFinished(() => {
    for (const session of sessions) session.destroy();
  });
  for (const session of sessions) session.on('error', () => {});
  const flood = (async () => {
    for (let round = 0; round < 10; round++) {
      for (const session of sessions) {
        if (session.destroyed) continue;
        for (let i = 0; i < 25; i++) {
          const stream = session.request({
            ':method': 'POST',
            ':path': ECHO,
            'content-type': 'application/json',
          });
          stream.on('error', () => {});
          stream.close();
        }
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  await Promise.all([flood, expectServed(url)]);
});
