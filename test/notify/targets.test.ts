import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { FieldViolationSchema } from '@holdfast/proto/guard';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { postWebhook } from '../../src/feed/webhook-request.js';
import { createWebhookTargets, isPublic } from '../../src/feed/webhook-targets.js';
import { type Board, startBoard } from '../rpc/board.js';
import { makeCertificate } from '../server/certificate.js';
import { type Project, startProject } from './project.js';
import { drop, type Receiver, startReceiver } from './receiver.js';

const PUBLIC = '8.8.8.8';

describe('an address', () => {
  test.each([PUBLIC, '1.1.1.1', '2606:4700::1111', '2a00:1450::1'])('%s is public', (address) => {
    expect(isPublic(address)).toBe(true);
  });

  test.each([
    ...['127.0.0.1', '127.255.255.254', '0.0.0.0', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
    ...[
      '169.254.169.254',
      '100.64.0.1',
      '100.127.255.255',
      '192.0.0.1',
      '192.0.2.1',
      '198.18.0.1',
      '198.51.100.1',
    ],
    ...['203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255', '192.88.99.1'],
    ...['::', '::1', '::ffff:127.0.0.1', '::ffff:10.0.0.1', '::ffff:8.8.8.8', '::127.0.0.1', '::8.8.8.8'],
    ...['64:ff9b::7f00:1', '64:ff9b:1::1', '2002:7f00:1::', '2001::1', 'fe80::1', 'fe80::1%lo', 'fec0::1'],
    ...['fc00::1', 'fd12:3456::1', 'ff02::1', '100::1', '2001:db8::1', '3fff::1', '5f00::1', '4000::1'],
    ...['', 'localhost', 'example.com'],
  ])('%s is not', (address) => {
    expect(isPublic(address)).toBe(false);
  });
});

describe('at its creation', () => {
  let board: Board;
  /** What names stand for; others cannot be resolved. */
  const names: Record<string, string[]> = {
    'public.test': [PUBLIC],
    'private.test': ['10.0.0.5'],
    'both.test': [PUBLIC, '::1'],
  };
  beforeAll(async () => {
    const resolve = async (name: string) => {
      if (name === 'never.test') await new Promise(() => {});
      const found = names[name];
      if (!found) throw Object.assign(new Error(name), { code: 'ENOTFOUND' });
      return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    };
    board = await startBoard({ webhooks: { allowPrivate: false, resolve } });
  });

  const create = (url: string) => board.any.call('ProjectService/CreateWebhook', { url }, board.admin.token);

  test.each([
    ...[
      '',
      ' ',
      'example.com',
      '/hook',
      'http://',
      'https://:80/',
      'http://a b/',
      'http://x:99999/',
      'http://[::1/',
    ],
    ...[
      'ftp://public.test/',
      'file:///etc/passwd',
      'javascript:alert(1)',
      'data:text/plain,x',
      'ws://public.test/',
    ],
    ...['https://user:password@public.test/', 'https://user@public.test/', 'https://public.test/#part'],
    ...['https://public.test/\u0000', 'https://public.test/\n', `https://public.test/${'x'.repeat(2048)}`],
    ...['http://127.0.0.1/', 'http://127.1/', 'http://2130706433/', 'http://0x7f.1/', 'http://017700000001/'],
    ...[
      'http://①②⑦.0.0.1/',
      'http://127.0.0.1./',
      'http://localhost/',
      'http://LOCALHOST./',
      'http://a.localhost/',
    ],
    ...[
      'http://[::1]/',
      'http://[::ffff:7f00:1]/',
      'http://[::127.0.0.1]/',
      'http://[fe80::1]/',
      'http://10.0.0.1/',
    ],
    ...[
      'http://169.254.169.254/latest/meta-data/',
      'http://0.0.0.0/',
      'http://192.168.0.1:8080/x',
      'http://0/',
    ],
    ...['http://private.test/', 'https://both.test/'],
  ])('%j is refused, naming the field', async (url) => {
    const result = await create(url);
    expect(result).toMatchObject({ code: 'InvalidArgument', message: expect.stringMatching(/^url /) });
    const [violation] = result.code === 'Ok' ? [] : result.error.findDetails(FieldViolationSchema);
    expect(violation?.field).toBe('url');
  });

  test.each([
    ['https://public.test/hook?key=1', 'https://public.test/hook?key=1'],
    ['HTTPS://Public.Test', 'https://public.test/'],
    ['http://8.8.8.8:8080/x', 'http://8.8.8.8:8080/x'],
    ['https://[2606:4700::1111]/', 'https://[2606:4700::1111]/'],
    // Judged when it is connected to.
    ['https://unknown.test/', 'https://unknown.test/'],
    ['https://never.test/', 'https://never.test/'],
    ['https://münchen.test/', 'https://xn--mnchen-3ya.test/'],
  ])('%s is taken', async (url, stored) => {
    expect(await create(url)).toMatchObject({
      code: 'Ok',
      answer: { webhook: { url: stored }, secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/) },
    });
  });

  it('tells nothing of what a name stands for', async () => {
    const result = await create('http://private.test/');
    expect(JSON.stringify(result)).not.toContain('10.0.0.5');
  });
});

describe('at every connection', () => {
  let project: Project;
  let receiver: Receiver;
  let addresses: string[];
  let asked = 0;
  beforeAll(async () => {
    receiver = await startReceiver();
    const resolve = async () => {
      asked++;
      return addresses.map((address) => ({ address, family: 4 }));
    };
    project = await startProject({ webhooks: { allowPrivate: false, resolve } });
  });

  test('a name that leads elsewhere meanwhile is not followed there', async () => {
    const { port } = new URL(receiver.url);
    const { projects } = project.owner.holdfast;
    addresses = [PUBLIC];
    await projects.createWebhook({ url: `http://rebound.test:${port}/` });
    for (const bad of [['127.0.0.1'], [PUBLIC, '127.0.0.1']]) {
      addresses = bad;
      const before = asked;
      await project.expire(...(await project.tasks(1)));
      await expect.poll(() => asked, { timeout: 5_000 }).toBe(before + 1);
      const lastError = async () => (await projects.listWebhooks({})).webhooks[0]?.lastError;
      await expect
        .poll(lastError, { timeout: 5_000 })
        .toMatch(/^the host leads to an address that is not public/);
    }
    expect(receiver.received).toEqual([]);
  });

  test('an address that was allowed before the setting was turned off is not connected to', async () => {
    const targets = createWebhookTargets({ allowPrivate: false });
    const request = { url: receiver.url, headers: {}, body: '{}' };
    expect(await postWebhook(request, targets, new AbortController().signal)).toMatchObject({
      kind: 'FAILED',
      error: expect.stringContaining('not public'),
    });
    expect(receiver.received).toEqual([]);
  });
});

describe('a request', () => {
  const body = JSON.stringify({ type: 'x', data: { taskId: 't', position: '1' } });
  const never = new AbortController().signal;
  const anywhere = createWebhookTargets({ allowPrivate: true });
  const post = (url: string, { targets = anywhere, signal = never, withinMs = 5_000 } = {}) =>
    postWebhook({ url, headers: {}, body }, targets, signal, withinMs);

  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await startReceiver();
  });

  test('connects to the address that was judged, and asks for it once', async () => {
    const names: string[] = [];
    const targets = createWebhookTargets({
      allowPrivate: true,
      resolve: async (name) => {
        names.push(name);
        return [{ address: '127.0.0.1', family: 4 }];
      },
    });
    receiver.answer = () => 200;
    const { port } = new URL(receiver.url);
    expect(await post(`http://hooks.test:${port}/`, { targets })).toEqual({ kind: 'ARRIVED' });
    expect(names).toEqual(['hooks.test']);
    expect(receiver.received.at(-1)?.headers.host).toBe(`hooks.test:${port}`);
  });

  test.each([
    ['200', 200, { kind: 'ARRIVED' }],
    ['299', 299, { kind: 'ARRIVED' }],
    ['302', 302, { kind: 'FAILED', error: 'answered 302: redirects are not followed', gone: false }],
    ['400', 400, { kind: 'FAILED', error: 'answered 400', gone: false }],
    ['410', 410, { kind: 'FAILED', error: expect.stringMatching(/^answered 410 \(gone\)/), gone: true }],
    ['nothing', drop, { kind: 'FAILED', error: 'closed the connection before it answered', gone: false }],
  ] as const)('answered with %s', async (_, answer, outcome) => {
    receiver.answer = () => answer;
    const before = receiver.received.length;
    expect(await post(receiver.url)).toEqual(outcome);
    expect(receiver.received).toHaveLength(before + 1);
  });

  test('an answer that never ends counts by its status, and is not read on', async () => {
    let closed = false;
    receiver.answer = () => (response) => {
      response.on('close', () => {
        closed = true;
      });
      response.writeHead(200);
      const more = () => {
        while (!closed && response.write('x'.repeat(16_384)));
      };
      response.on('drain', more);
      more();
    };
    expect(await post(receiver.url)).toEqual({ kind: 'ARRIVED' });
    await expect.poll(() => closed, { timeout: 5_000 }).toBe(true);
  });

  test('an upgrade that nobody asked for is a failure', async () => {
    receiver.answer = () => (response) => {
      response.socket?.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n');
    };
    expect(await post(receiver.url)).toMatchObject({ kind: 'FAILED' });
  });

  test('that gets no answer in time is a failure', async () => {
    receiver.answer = () => () => {};
    const outcome = { kind: 'FAILED', error: 'did not answer within 0.1 s', gone: false };
    expect(await post(receiver.url, { withinMs: 100 })).toEqual(outcome);
  });

  test('is broken off by its signal', async () => {
    const abort = new AbortController();
    receiver.answer = () => () => abort.abort();
    expect(await post(receiver.url, { signal: abort.signal })).toEqual({ kind: 'BROKEN_OFF' });
  });

  test('to where nobody listens is refused', async () => {
    expect(await post('http://127.0.0.1:1/')).toEqual({
      kind: 'FAILED',
      error: 'refused the connection',
      gone: false,
    });
  });

  test('trusts no certificate that nobody vouches for', async () => {
    const server = createServer(makeCertificate(), (_, response) => response.end());
    afterAll(() => server.close());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    expect(await post(`https://127.0.0.1:${(server.address() as AddressInfo).port}/`)).toEqual({
      kind: 'FAILED',
      error: 'could not be reached: DEPTH_ZERO_SELF_SIGNED_CERT',
      gone: false,
    });
  });
});
