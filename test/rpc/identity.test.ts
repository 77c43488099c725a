import { PrincipalKind } from '@holdfast/proto/history';
import { Role } from '@holdfast/proto/project';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Board, hold, startBoard } from './board.js';
import { refused } from './refused.js';

const { AGENT, PERSON } = PrincipalKind;

let board: Board;
beforeAll(async () => {
  board = await startBoard();
});

const create = (request: Parameters<Board['admin']['projects']['createToken']>[0]) =>
  board.admin.projects.createToken(request);

describe('WhoAmI', () => {
  it('says who calls', async () => {
    expect(await board.owner.projects.whoAmI({})).toMatchObject({
      principal: 'owner',
      kind: PERSON,
      role: Role.ADMIN,
      project: 'default',
      owner: true,
    });
    const made = await create({
      principal: ' Zoë 🦉',
      kind: AGENT,
      role: Role.AGENT,
      expiresIn: { seconds: 60n },
    });
    const me = await board.service.client(made.token).projects.whoAmI({});
    expect(me).toMatchObject({
      principal: made.principal,
      kind: AGENT,
      role: Role.AGENT,
      owner: false,
      tokenId: made.tokenId,
      expiresAt: made.expiresAt,
    });
  });
});

describe('CreateToken', () => {
  it.each([
    [AGENT, [Role.AGENT]],
    [PERSON, [Role.VIEWER, Role.MEMBER, Role.ADMIN]],
  ])('gives a principal of kind %s only a role that fits', async (kind, fitting) => {
    for (const role of [Role.UNSPECIFIED, Role.AGENT, Role.VIEWER, Role.MEMBER, Role.ADMIN, 99 as Role]) {
      const call = create({ principal: `kind ${kind} role ${role}`, kind, role });
      if (fitting.includes(role)) await call;
      else expect(await refused(call)).toMatchObject({ code: 'InvalidArgument', field: 'role' });
    }
  });

  it('keeps the name of the owner for the owner, in every spelling', async () => {
    for (const principal of ['owner', 'OWNER', 'ｏｗｎｅｒ']) {
      const call = create({ principal, kind: PERSON, role: Role.VIEWER });
      expect(await refused(call)).toMatchObject({ code: 'PermissionDenied' });
    }
    await board.owner.projects.createToken({ principal: 'owner', kind: PERSON, role: Role.VIEWER });
  });

  it('needs a kind', async () => {
    for (const kind of [PrincipalKind.UNSPECIFIED, 7 as PrincipalKind]) {
      expect(await refused(create({ principal: 'p', kind, role: Role.AGENT }))).toMatchObject({
        code: 'InvalidArgument',
        field: 'kind',
      });
    }
  });

  it('makes one principal of all spellings of a name', async () => {
    const spellings = ['Ångström-Ⅷ', 'ångström-ⅷ', 'A\u030angstro\u0308m-VIII', 'ÅNGSTRÖM-viii'];
    const made = await Promise.all(
      spellings.map((principal) => create({ principal, kind: AGENT, role: Role.AGENT })),
    );
    expect(new Set(made.map(({ principal }) => principal))).toEqual(new Set(['ångström-viii']));
    const { id: taskId } = await board.task();
    const [first, ...others] = made.map(({ token }) => ({
      ...board.service.client(token, 'one-run'),
      token,
    }));
    if (!first) throw new Error('no client');
    const proof = await hold(first, taskId);
    for (const other of others) {
      const again = await other.leases.acquireLease({ taskId, executionId: 'one-run' });
      expect(again.outcome).toMatchObject({
        case: 'grant',
        value: { renewed: true, lease: { id: proof.leaseId, fencingToken: proof.fencingToken } },
      });
    }
    const last = others.at(-1);
    const { task } = (await last?.tasks.completeTask({ taskId, executionId: 'one-run', proof })) ?? {};
    expect(task?.closedBy).toBe('ångström-viii');
  });

  it('does not make an agent of a person, however the name is spelt', async () => {
    await create({ principal: 'Robin', kind: PERSON, role: Role.MEMBER });
    for (const principal of ['robin', 'ROBIN', 'ｒｏｂｉｎ']) {
      expect(await refused(create({ principal, kind: AGENT, role: Role.AGENT }))).toMatchObject({
        code: 'AlreadyExists',
      });
    }
    await create({ principal: 'robin', kind: PERSON, role: Role.ADMIN });
  });

  it('refuses names that cannot be told apart on a screen or are none', async () => {
    for (const principal of ['', ' ', 'a\nb', 'a\u0000', '\u2028', 'x'.repeat(257), '\u0085']) {
      expect(await refused(create({ principal, kind: AGENT, role: Role.AGENT }))).toMatchObject({
        code: 'InvalidArgument',
        field: 'principal',
      });
    }
    // A name may not grow beyond the limit by being brought into its canonical form.
    const growing = '\ufdfa'.repeat(256);
    expect(await refused(create({ principal: growing, kind: AGENT, role: Role.AGENT }))).toMatchObject({
      code: 'InvalidArgument',
      field: 'principal',
    });
  });

  it('limits a token’s life, if asked to', async () => {
    for (const expiresIn of [
      { seconds: 0n },
      { seconds: -1n },
      { nanos: 999_999_999 },
      { seconds: 2n ** 63n - 1n },
    ]) {
      expect(
        await refused(create({ principal: 'brief', kind: AGENT, role: Role.AGENT, expiresIn })),
      ).toMatchObject({
        code: 'InvalidArgument',
        field: 'expires_in',
      });
    }
    const forever = await create({ principal: 'brief', kind: AGENT, role: Role.AGENT });
    expect(forever.expiresAt).toBeUndefined();
  });

  it('is listed without its secret, and no more after it was revoked than before', async () => {
    const made = await create({ principal: 'listed', kind: AGENT, role: Role.AGENT });
    const listed = async () =>
      (await board.admin.projects.listTokens({ pageSize: 1000 })).tokens.find(
        ({ id }) => id === made.tokenId,
      );
    expect(await listed()).toMatchObject({ principal: 'listed', kind: AGENT, role: Role.AGENT });
    expect(await board.admin.projects.revokeToken({ tokenId: made.tokenId })).toMatchObject({
      alreadyRevoked: false,
    });
    expect(await board.admin.projects.revokeToken({ tokenId: made.tokenId })).toMatchObject({
      alreadyRevoked: true,
    });
    expect((await listed())?.revokedAt).toBeDefined();
  });

  it('cannot make owners: an owner’s token for somebody else is an admin’s', async () => {
    const { token } = await board.owner.projects.createToken({
      principal: 'o2',
      kind: PERSON,
      role: Role.ADMIN,
    });
    const client = board.service.client(token);
    expect((await client.projects.whoAmI({})).owner).toBe(false);
    expect(await refused(client.projects.createProject({ project: 'not theirs' }))).toMatchObject({
      code: 'PermissionDenied',
    });
  });
});

describe('one principal', () => {
  it('may complete with one client what it acquired with another', async () => {
    const { id: taskId } = await board.task();
    const proof = await hold(board.agent, taskId);
    const other = board.service.client(await board.service.token('AGENT', 'agent', 'ADA'));
    const { task } = await other.tasks.completeTask({ taskId, executionId: 'ada-run', proof });
    expect(task?.closedBy).toBe('ada');
  });

  it('has executions that are told apart exactly', async () => {
    const { id: taskId } = await board.task();
    await hold(board.agent, taskId);
    for (const executionId of ['ADA-RUN', 'ada-run2', 'ada-ru']) {
      const { outcome } = await board.agent.leases.acquireLease({ taskId, executionId });
      expect(outcome).toMatchObject({ case: 'refusal', value: { reason: 1 } });
    }
  });
});
