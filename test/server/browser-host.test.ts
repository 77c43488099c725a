import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:http2';
import { text } from 'node:stream/consumers';
import { describe, expect, it, test } from 'vitest';
import { createBrowserCheck, type HostOptions } from '../../src/server/browser-host.js';
import { startTestService } from '../support/service.js';

const LOOPBACK: HostOptions = { listensOn: '127.0.0.1', secure: false, allowedHosts: [] };
const allows = (options: Partial<HostOptions>, host: string | undefined, origin?: string) =>
  createBrowserCheck({ ...LOOPBACK, ...options })({
    headers: { ...(host !== undefined && { host }), ...(origin !== undefined && { origin }) },
  }) === undefined;

describe('on the loopback, without any allowed hosts', () => {
  it.each([
    ['localhost:7420', 'http://localhost:7420'],
    ['LOCALHOST:7420', 'http://localhost:7420'],
    ['holdfast.localhost:7420', 'http://holdfast.localhost:7420'],
    ['127.0.0.1:7420', 'http://127.0.0.1:7420'],
    ['[::1]:7420', 'http://[::1]:7420'],
    // A tunnel to another port.
    ['localhost:9000', 'http://localhost:9000'],
    // No browser.
    ['localhost:7420', undefined],
    // A proxy that speaks TLS and keeps the Host, with its port or without.
    ['holdfast.example.com', 'https://holdfast.example.com'],
    ['holdfast.example.com:443', 'https://holdfast.example.com'],
  ])('takes %s from %s', (host, origin) => {
    expect(allows({}, host, origin)).toBe(true);
  });

  it.each([
    // Its name was made to point here.
    ['evil.example:7420', 'http://evil.example:7420'],
    ['evil.example:7420', undefined],
    ['localhost.evil.example:7420', 'http://localhost.evil.example:7420'],
    ['127.0.0.1.evil.example:7420', 'http://127.0.0.1.evil.example:7420'],
    // Another site, or another program of this machine.
    ['localhost:7420', 'https://evil.example'],
    ['localhost:7420', 'http://localhost:3000'],
    ['localhost:7420', 'null'],
    ['localhost:7420', ''],
    ['evil.example:7420', 'https://evil.example'],
    ['', undefined],
    [undefined, undefined],
    ['a b', undefined],
  ])('refuses %j from %j', (host, origin) => {
    expect(allows({}, host, origin)).toBe(false);
  });

  it.each(['localhost', '::1', '127.0.0.2', '::ffff:127.0.0.1'])('knows %s for the loopback', (listensOn) => {
    expect(allows({ listensOn }, 'evil.example:7420')).toBe(false);
  });
});

describe('elsewhere, or with TLS', () => {
  it.each([
    { listensOn: '0.0.0.0' },
    { listensOn: '::' },
    { listensOn: '10.0.0.5' },
    { listensOn: '::1', secure: true },
  ])('takes any name that fits its page: %j', (options) => {
    expect(allows(options, 'holdfast.lan:7420', 'http://holdfast.lan:7420')).toBe(true);
    expect(allows(options, 'holdfast.lan:7420', 'http://evil.example')).toBe(false);
  });
});

test.each([LOOPBACK, { ...LOOPBACK, listensOn: '0.0.0.0' }, { ...LOOPBACK, secure: true }])(
  'allowed hosts are allowed, and no others: %j',
  (options) => {
    const known = { ...options, allowedHosts: ['holdfast.lan', 'holdfast.example.com'] };
    expect(allows(known, 'holdfast.lan', 'http://holdfast.lan')).toBe(true);
    // The proxy names the server by its address.
    expect(allows(known, '127.0.0.1:7420', 'https://holdfast.example.com')).toBe(true);
    expect(allows(known, 'localhost:7420', 'http://localhost:7420')).toBe(true);
    expect(allows(known, 'evil.example', 'http://evil.example')).toBe(false);
    expect(allows(known, 'evil.example', 'https://evil.example')).toBe(false);
    expect(allows(known, '127.0.0.1:7420', 'https://evil.example')).toBe(false);
  },
);

describe('a server that lets visitors in', () => {
  const body = '{"visitor":true}';

  async function post(url: string, headers: Record<string, string>) {
    const call = request(`${url}/sign-in`, { method: 'POST', headers }).end(body);
    const [answer] = await once(call, 'response');
    return { status: answer.statusCode, text: await text(answer) };
  }

  it('gives no token to a site whose name points to this machine, nor to another one, and says what to do', async () => {
    const { url } = await startTestService({ signIn: { visitors: true } });
    const { host } = new URL(url);
    const rebound = await post(url, { host: 'evil.example:7420', origin: 'http://evil.example:7420' });
    expect(rebound).toMatchObject({
      status: 403,
      text: expect.stringContaining('name the host in HOLDFAST_ALLOWED_HOSTS'),
    });
    expect((await post(url, { host, origin: 'https://evil.example' })).status).toBe(403);
    expect((await post(url, { host, origin: `http://${host}` })).text).toContain('hf_');
    expect((await post(url, { host })).text).toContain('hf_');
  });

  it('goes by the authority of HTTP/2', async () => {
    const { url } = await startTestService({ signIn: { visitors: true } });
    const session = connect(url);
    const ask = async (authority: string) => {
      const stream = session.request({
        ':method': 'POST',
        ':path': '/sign-in',
        ':authority': authority,
        host: 'localhost',
      });
      stream.end(body);
      const [headers] = await once(stream, 'response');
      stream.resume();
      await once(stream, 'close');
      return headers[':status'];
    };
    expect([await ask('evil.example:7420'), await ask('localhost:7420')]).toEqual([403, 200]);
    session.close();
  });

  it('goes by the names that it was given', async () => {
    const { url } = await startTestService({ signIn: { visitors: true }, allowedHosts: ['holdfast.lan'] });
    const headers = { host: 'holdfast.lan', origin: 'http://holdfast.lan' };
    expect((await post(url, headers)).status).toBe(200);
  });
});
