import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createConnectTransport, createGrpcTransport } from '@connectrpc/connect-node';
import { PrincipalKind } from '@holdfast/proto/history';
import { ProjectService, Role } from '@holdfast/proto/project';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { type Service, startService } from '../../src/service.js';
import { makeCertificate } from '../server/certificate.js';
import { makeOwner } from '../support/owner.js';
import { createTestDatabase } from '../support/postgres.js';
import { DEFAULT_SETTINGS } from '../support/service.js';
import { type KeyPair, makeClientCa } from './client-ca.js';
import { withTwinSignature } from './twin-signature.js';

const ca = makeClientCa();
const tls = makeCertificate();

let service: Service;
let ownerToken: string;
beforeAll(async () => {
  const { url: databaseUrl } = await createTestDatabase();
  ownerToken = await makeOwner(databaseUrl, DEFAULT_SETTINGS);
  service = await startService({
    databaseUrl,
    host: '127.0.0.1',
    port: 0,
    defaults: DEFAULT_SETTINGS,
    webhooks: { allowPrivate: false },
    tls: { ...tls, clientCa: ca.cert },
    log: pino({ level: 'silent' }),
  });
});
afterAll(() => service?.stop());

type Wire = 'gRPC' | 'Connect over HTTP/2' | 'Connect over HTTP/1.1';

/** Calls with a certificate and perhaps a token. */
function callAs(pair: Partial<KeyPair>, wire: Wire = 'gRPC', token?: string) {
  const nodeOptions = { ca: tls.cert, ...pair };
  const baseUrl = `https://127.0.0.1:${service.address.port}`;
  const transport =
    wire === 'gRPC'
      ? createGrpcTransport({ baseUrl, nodeOptions })
      : createConnectTransport({ baseUrl, nodeOptions, httpVersion: wire.endsWith('2') ? '2' : '1.1' });
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const projects = createClient(ProjectService, transport);
  const options = { headers, timeoutMs: 10_000 };
  return {
    whoAmI: () => projects.whoAmI({}, options),
    createProject: (project: string) => projects.createProject({ project }, options),
    revokeToken: (tokenId: string) => projects.revokeToken({ tokenId }, options),
  };
}

const whoIs = (...who: Parameters<typeof callAs>) => callAs(...who).whoAmI();
const owner = () => callAs(ca.sign('/CN=ops'), 'gRPC', ownerToken);

const refusalOf = async (call: Promise<unknown>) => {
  const error = ConnectError.from(
    await call.then(
      () => expect.fail('the call was not refused'),
      (thrown: unknown) => thrown,
    ),
  );
  return [Code[error.code], error.rawMessage];
};

test.each(['gRPC', 'Connect over HTTP/2', 'Connect over HTTP/1.1'] as const)(
  'a certificate says who calls, over %s',
  async (wire) => {
    const me = await whoIs(ca.sign('/CN=Ada'), wire);
    expect(me).toMatchObject({
      principal: 'ada',
      kind: PrincipalKind.AGENT,
      role: Role.AGENT,
      project: 'default',
      owner: false,
    });
    expect(me.expiresAt).toBeDefined();
  },
);

describe('its subject', () => {
  it('gives role and project', async () => {
    await owner().createProject('harbour');
    expect(await whoIs(ca.sign('/CN=mia/O=harbour/OU=admin'))).toMatchObject({
      principal: 'mia',
      kind: PrincipalKind.PERSON,
      role: Role.ADMIN,
      project: 'harbour',
    });
  });

  it.each([
    ['/O=default', 'one CN'],
    ['/CN=a/CN=b', 'one CN'],
    ['/CN=x/OU=root', 'its OU must be'],
    ['/CN=x/OU=viewer/OU=sales', 'its OU must be'],
    ['/CN=x/O=default/O=harbour', 'one O'],
    ['/CN=x/O=nowhere', 'there is no project'],
    ['/CN=owner/OU=admin', 'reserved'],
  ])('%s names nobody', async (subject, text) => {
    expect(await refusalOf(whoIs(ca.sign(subject)))).toEqual([
      'Unauthenticated',
      expect.stringContaining(text),
    ]);
  });
});

test('a certificate of another CA, or none, does not get in', async () => {
  const stranger = makeCertificate();
  for (const pair of [stranger, {}]) {
    for (const wire of ['gRPC', 'Connect over HTTP/1.1'] as const) {
      const [code] = await refusalOf(whoIs(pair, wire, ownerToken));
      expect(['Unavailable', 'Internal', 'Unknown', 'Aborted', 'Canceled']).toContain(code);
    }
  }
});

test('a token that is sent with it is who calls, and one that is not good is nobody', async () => {
  const pair = ca.sign('/CN=rob');
  expect((await whoIs(pair, 'gRPC', ownerToken)).principal).toBe('owner');
  expect((await refusalOf(whoIs(pair, 'gRPC', `hf_${'a'.repeat(43)}`)))[0]).toBe('Unauthenticated');
});

test('one certificate is one token, which an admin may revoke', async () => {
  const pair = ca.sign('/CN=zoe');
  const [first, second] = [await whoIs(pair), await whoIs(pair, 'Connect over HTTP/1.1')];
  expect(second.tokenId).toBe(first.tokenId);
  await owner().revokeToken(first.tokenId);
  expect(await refusalOf(whoIs(pair))).toEqual(['Unauthenticated', expect.stringContaining('revoked')]);
  // Another certificate of the same name is another one.
  expect((await whoIs(ca.sign('/CN=zoe'))).principal).toBe('zoe');
});

test('a revoked certificate stays revoked with the other form of its signature', async () => {
  const pair = ca.sign('/CN=kim');
  const twin = { ...pair, cert: withTwinSignature(pair.cert) };
  const { tokenId } = await whoIs(pair);
  expect((await whoIs(twin)).tokenId).toBe(tokenId);
  await owner().revokeToken(tokenId);
  expect(await refusalOf(whoIs(twin))).toEqual(['Unauthenticated', expect.stringContaining('revoked')]);
});
