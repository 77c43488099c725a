import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { makeCertificate } from '../server/certificate.js';
import { createTestDatabase, type TestDatabase } from '../support/postgres.js';
import { callJson, newFolder, startServe } from './serve-process.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});

const onDatabase = () => ['--database-url', database.url];

/** Where nobody listens, and nobody can begin to meanwhile. */
async function takenPort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return { port, free: () => server.close() };
}

describe('holdfast serve does not start', () => {
  const refuse = async (...options: Parameters<typeof startServe>) => {
    const server = startServe(...options);
    const { code } = await server.ended;
    expect(server.stdout()).toBe('');
    // Whatever else was said: no stack of something that nobody caught.
    expect(server.stderr()).not.toMatch(/^Node\.js v/m);
    return {
      code,
      ...(JSON.parse(server.stderr().trim().split('\n').at(-1) ?? '') as { error: { message: string } }),
    };
  };

  it.each([
    [{ env: { HOLDFAST_PROT: '1' } }, 'There is no setting HOLDFAST_PROT.'],
    [{ env: { LOCK_ENFORCEMENT: 'always' } }, 'LOCK_ENFORCEMENT=always must be off, warn or enforce'],
    [{ args: ['--port', '70000'] }, 'PORT=70000 must be 0 to 65535'],
    [{ args: ['--tls-cert', 'c.pem'] }, '--tls-cert and --tls-key go together'],
    [{ args: ['--tls-cert', 'c.pem', '--tls-key', 'k.pem'] }, 'The TLS file c.pem cannot be read'],
  ])('with wrong settings: %o', async (options, message) => {
    expect(await refuse(options)).toMatchObject({
      code: 2,
      error: { message: expect.stringContaining(message) },
    });
  });

  it.each([['--workers', '0'], ['--workers', '65'], ['--workers', 'many'], ['--no-such-flag']])(
    'with wrong flags: %s %s',
    async (...args) => {
      const server = startServe({ args });
      expect(await server.ended).toMatchObject({ code: 2 });
      expect(JSON.parse(server.stderr())).toMatchObject({ error: { code: 'USAGE' } });
    },
  );

  it('on a port that is taken', async () => {
    const { port, free } = await takenPort();
    for (const workers of ['1', '2']) {
      const args = [...onDatabase(), '--port', String(port), '--workers', workers];
      const { code, error } = await refuse({ args });
      expect(code).toBe(1);
      if (workers === '1') {
        expect(error.message).toContain(`cannot listen on 127.0.0.1:${port}: the port is taken`);
      }
    }
    free();
  });

  it('with a certificate that is none', async () => {
    const folder = newFolder();
    for (const name of ['c.pem', 'k.pem']) writeFileSync(join(folder, name), 'no certificate');
    const args = [...onDatabase(), '--tls-cert', 'c.pem', '--tls-key', 'k.pem'];
    const { code, error } = await refuse({ folder, args });
    expect([code, error.message]).toEqual([
      1,
      expect.stringContaining('the TLS certificate or key cannot be used'),
    ]);
  });

  it.each([
    ['nobody listens there', () => 'postgres://someone:s3cret@127.0.0.1:1/db'],
    ['there is no such database', () => `${database.url.replace(/\/[^/?]*(\?|$)/, '/no_such_database$1')}`],
  ])('without its database, and tells no password: %s', async (_, url) => {
    const { code, error } = await refuse({ env: { DATABASE_URL: url() } });
    expect(code).toBe(1);
    expect(error.message).not.toContain('s3cret');
    expect(error.message.length).toBeGreaterThan(10);
  });
});

test('a setting that is another program’s is a warning, and the server starts', async () => {
  const server = startServe({ args: onDatabase(), env: { LOCK_TTL: '5' } });
  await server.ready;
  expect(server.stderr()).toContain('LOCK_TTL is no setting of Holdfast');
  expect(await server.stop()).toEqual({ code: 0, signal: null });
});

describe('the owner’s token', () => {
  const isOwner = async (url: string, token: string) =>
    (await callJson(url, 'ProjectService/WhoAmI', {}, token)).body.owner === true;
  const mode = (folder: string) => statSync(join(folder, 'admin-token')).mode & 0o777;

  it('is made on the first start, kept for the next, and made anew when lost: with the embedded Postgres', {
    timeout: 60_000,
  }, async () => {
    const folder = newFolder();
    let server = startServe({ folder });
    let { url, tokenFile } = await server.ready;
    const first = server.ownerToken();
    expect([tokenFile, mode(folder)]).toEqual([join(folder, 'admin-token'), 0o600]);
    expect(await isOwner(url, first)).toBe(true);
    expect(await server.stop()).toEqual({ code: 0, signal: null });

    server = startServe({ folder });
    ({ url } = await server.ready);
    expect([server.ownerToken(), await isOwner(url, first)]).toEqual([first, true]);
    await server.stop();

    rmSync(join(folder, 'admin-token'));
    server = startServe({ folder });
    ({ url } = await server.ready);
    const second = server.ownerToken();
    expect([second === first, mode(folder), await isOwner(url, second)]).toEqual([false, 0o600, true]);
    await server.stop();

    // A file that everybody could read until now must not become one with a new secret in it.
    writeFileSync(join(folder, 'admin-token'), 'hf_stale\n');
    chmodSync(join(folder, 'admin-token'), 0o644);
    server = startServe({ folder });
    ({ url } = await server.ready);
    expect([mode(folder), await isOwner(url, server.ownerToken())]).toEqual([0o600, true]);
    await server.stop();
    expect(server.stdout() + server.stderr()).not.toContain(server.ownerToken());
  });

  it('of a database elsewhere is made for the first server alone', async () => {
    const { url: databaseUrl } = await createTestDatabase();
    const args = ['--database-url', databaseUrl];
    const first = startServe({ args });
    const { url, tokenFile } = await first.ready;
    expect(tokenFile).toBe(join(first.folder, 'admin-token'));
    const stranger = startServe({ args });
    expect((await stranger.ready).tokenFile).toBeUndefined();
    expect(existsSync(join(stranger.folder, 'admin-token'))).toBe(false);
    const again = startServe({ args, folder: first.folder });
    await again.ready;
    expect(await isOwner(url, again.ownerToken())).toBe(true);
    await Promise.all([first.stop(), stranger.stop(), again.stop()]);
  });
});

test('without TLS it listens on this machine alone, with TLS on every address', async () => {
  const clear = startServe({ args: onDatabase() });
  const { port } = new URL((await clear.ready).url);
  const listening = (port: string) =>
    readFileSync('/proc/net/tcp', 'utf8').includes(
      ` 0100007F:${Number(port).toString(16).toUpperCase().padStart(4, '0')} `,
    );
  if (existsSync('/proc/net/tcp')) expect(listening(port)).toBe(true);
  await clear.stop();

  const folder = newFolder();
  const { cert, key } = makeCertificate();
  writeFileSync(join(folder, 'c.pem'), cert);
  writeFileSync(join(folder, 'k.pem'), key);
  const secure = startServe({
    folder,
    args: [...onDatabase(), '--tls-cert', 'c.pem', '--tls-key', 'k.pem', '--host', '127.0.0.1'],
  });
  expect((await secure.ready).url).toMatch(/^https:/);
  await secure.stop();
});
