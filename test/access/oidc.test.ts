import { PrincipalKind } from '@holdfast/proto/history';
import { Role } from '@holdfast/proto/project';
import { SignJWT } from 'jose';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { type AnyRpc, anyRpc } from '../rpc/any-rpc.js';
import { startTestService, type TestService } from '../support/service.js';
import { Watching } from '../watch/watching.js';
import { type Issuer, startIssuer } from './issuer.js';

const AUDIENCE = 'holdfast';

let issuer: Issuer;
let service: TestService;
let any: AnyRpc;
beforeAll(async () => {
  issuer = await startIssuer(AUDIENCE);
  service = await startTestService({
    oidc: {
      issuer: issuer.url,
      audience: AUDIENCE,
      roles: { leads: 'admin', 'the-team': 'member', bots: 'agent', viewers: 'viewer' },
      claims: { principal: 'sub', role: 'realm_access.roles', project: 'holdfast_project' },
    },
  });
  any = anyRpc(service.url);
  await service.client(service.ownerToken).projects.createProject({ project: 'elsewhere' });
});

const ofRoles = (...roles: string[]) => ({ realm_access: { roles } });
const whoIs = (jwt: string) => service.client(jwt).projects.whoAmI({});
const refusalOf = async (jwt: string, rpc = 'ProjectService/WhoAmI') => {
  const result = await any.call(rpc, {}, jwt);
  return [result.code, result.code === 'Ok' ? '' : result.message];
};

describe('the claims', () => {
  it('say who calls, with which role, in which project', async () => {
    expect(await whoIs(await issuer.token({ sub: 'Ann', ...ofRoles('the-team') }))).toMatchObject({
      principal: 'ann',
      kind: PrincipalKind.PERSON,
      role: Role.MEMBER,
      project: 'default',
      owner: false,
    });
    const bot = { sub: 'bot-1', ...ofRoles('bots'), holdfast_project: 'elsewhere' };
    expect(await whoIs(await issuer.token(bot))).toMatchObject({
      principal: 'bot-1',
      kind: PrincipalKind.AGENT,
      role: Role.AGENT,
      project: 'elsewhere',
    });
  });

  it('give the strongest of several roles', async () => {
    const jwt = await issuer.token({ sub: 'lea', ...ofRoles('unknown', 'the-team', 'leads') });
    expect((await whoIs(jwt)).role).toBe(Role.ADMIN);
  });

  it('must be such that a caller follows from them', async () => {
    const token = (claims: object) => issuer.token({ sub: 'ann', ...ofRoles('the-team'), ...claims });
    const cases: [object, string][] = [
      [ofRoles(), 'gives no role'],
      [{ realm_access: 'x' }, 'gives no role'],
      [ofRoles('__proto__', 'constructor'), 'gives no role'],
      [{ holdfast_project: 'nowhere' }, 'there is no project "nowhere"'],
      [{ sub: 'owner' }, 'reserved'],
      [{ sub: 'OWNER' }, 'reserved'],
      [{ sub: 'a\nb' }, 'no name of a principal'],
      [{ sub: 'x'.repeat(257) }, 'no name of a principal'],
      [ofRoles('bots'), 'of the other kind'],
    ];
    await whoIs(await token({}));
    for (const [claims, text] of cases) {
      expect(await refusalOf(await token(claims))).toEqual([
        'Unauthenticated',
        expect.stringContaining(text),
      ]);
    }
  });
});

describe('a token that is not good', () => {
  const ann = { sub: 'secretive-sue', ...ofRoles('the-team') };
  const past = Math.floor(Date.now() / 1_000) - 60;
  const unsigned = (header: object, claims: object) =>
    [...[header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')), 'AA'].join(
      '.',
    );
  const cases: [string, () => Promise<string>, string][] = [
    ['has expired', () => issuer.token({ ...ann, exp: past }), 'has expired'],
    ['never expires', () => issuer.token({ ...ann, exp: null }), '"exp"'],
    ['is not valid yet', () => issuer.token({ ...ann, nbf: past + 3_600 }), '"nbf"'],
    ['is for somebody else', () => issuer.token({ ...ann, aud: 'another' }), 'its aud'],
    ['is of somebody else', () => issuer.token({ ...ann, iss: 'https://another.example' }), 'its iss'],
    ['is of nobody', () => issuer.token({ ...ann, sub: null }), '"sub"'],
    ['is signed by a stranger', () => issuer.token(ann, issuer.strangeKey), 'signature'],
    [
      'is not signed',
      async () => unsigned({ alg: 'none' }, { ...ann, iss: issuer.url, aud: AUDIENCE }),
      'signature',
    ],
    [
      'is signed with a shared secret',
      () => new SignJWT(ann).setProtectedHeader({ alg: 'HS256', kid: 'first' }).sign(Buffer.alloc(32)),
      'signature',
    ],
  ];
  it.each(cases)('because it %s, is refused and not told on', async (_, make, text) => {
    const jwt = await make();
    const [code, message = ''] = await refusalOf(jwt);
    expect([code, message]).toEqual(['Unauthenticated', expect.stringContaining(text)]);
    expect(message).not.toContain('sue');
    expect(service.logs.join()).not.toContain(jwt);
  });
});

test('its caller is one principal, however often its token is renewed, and admins see and revoke it', async () => {
  const owner = service.client(service.ownerToken);
  const later = Math.floor(Date.now() / 1_000) + 1_200;
  const jwts = await Promise.all([
    issuer.token({ sub: 'rita', ...ofRoles('the-team') }),
    issuer.token({ sub: 'rita', ...ofRoles('the-team'), exp: later }),
  ]);
  const [first, second] = [await whoIs(jwts[0]), await whoIs(jwts[1])];
  expect(second.tokenId).toBe(first.tokenId);
  expect(Number(second.expiresAt?.seconds)).toBe(later);
  const { tokens } = await owner.projects.listTokens({});
  expect(tokens.filter(({ principal }) => principal === 'rita')).toHaveLength(1);

  const watching = await new Watching(service.client(jwts[1])).begun();
  await owner.projects.revokeToken({ tokenId: first.tokenId });
  expect((await watching.ended()).code).toBe('Unauthenticated');
  for (const jwt of jwts) {
    expect(await refusalOf(jwt)).toEqual(['Unauthenticated', expect.stringContaining('revoked')]);
  }
});

test('many calls at once are one caller, told once in the history', async () => {
  const jwt = await issuer.token({ sub: 'crowd', ...ofRoles('the-team') });
  const client = service.client(jwt);
  const answers = await Promise.all(Array.from({ length: 20 }, () => client.projects.whoAmI({})));
  expect(new Set(answers.map(({ tokenId }) => tokenId)).size).toBe(1);
  const { events } = await service.client(service.ownerToken).history.listHistory({ actor: 'crowd' });
  expect(events).toHaveLength(1);
});

test('it may do what its role may, and no more', async () => {
  const member = await issuer.token({ sub: 'mo', ...ofRoles('the-team') });
  expect((await refusalOf(member, 'ProjectService/ListTokens'))[0]).toBe('PermissionDenied');
  const lead = await issuer.token({ sub: 'lu', ...ofRoles('leads') });
  expect((await refusalOf(lead, 'ProjectService/ListTokens'))[0]).toBe('Ok');
  expect(await any.call('TaskService/ListTasks', { project: 'elsewhere' }, lead)).toMatchObject({
    code: 'NotFound',
  });
});

test('the provider is asked for its keys once', async () => {
  await whoIs(await issuer.token({ sub: 'ann', ...ofRoles('the-team') }));
  const asked = issuer.asked;
  await whoIs(await issuer.token({ sub: 'ann', ...ofRoles('the-team') }));
  expect(issuer.asked).toBe(asked);
});

test('a provider that is away is UNAVAILABLE for its tokens, and nothing for others', async () => {
  const away = await startIssuer(AUDIENCE);
  away.down = 'ALL';
  const other = await startTestService({
    oidc: {
      issuer: away.url,
      audience: AUDIENCE,
      roles: { 'the-team': 'member' },
      claims: { principal: 'sub', role: 'role', project: 'project' },
    },
  });
  const jwt = await away.token({ sub: 'ann', role: 'the-team' });
  const call = (token: string) => anyRpc(other.url).call('ProjectService/WhoAmI', {}, token);
  expect(await call(jwt)).toMatchObject({ code: 'Unavailable' });
  expect(await call(other.ownerToken)).toMatchObject({ code: 'Ok' });
  away.down = 'KEYS';
  expect(await call(jwt)).toMatchObject({ code: 'Unavailable' });
  away.down = undefined;
  expect(await call(jwt)).toMatchObject({ code: 'Ok' });
});

test('without a provider its tokens are nobody’s', async () => {
  const plain = await startTestService();
  const jwt = await issuer.token({ sub: 'ann', ...ofRoles('leads') });
  expect(await anyRpc(plain.url).call('ProjectService/WhoAmI', {}, jwt)).toMatchObject({
    code: 'Unauthenticated',
  });
});
