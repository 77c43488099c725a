import { FieldViolationSchema } from '@holdfast/proto/guard';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { type Board, ROLES, type RoleOfBoard, startBoard } from './board.js';
import { NAMES } from './methods.js';
import { requestOf } from './requests.js';

const READERS: readonly RoleOfBoard[] = ['agent', 'viewer', 'member', 'admin', 'owner'];
const WORKERS: readonly RoleOfBoard[] = ['agent', 'member', 'admin', 'owner'];
const PEOPLE: readonly RoleOfBoard[] = ['viewer', 'member', 'admin', 'owner'];
const ADMINS: readonly RoleOfBoard[] = ['admin', 'owner'];

/** Who may call what is neither read by all nor written by all who work: the contract, a second time. */
const NARROWER: Readonly<Record<string, readonly RoleOfBoard[]>> = {
  'LeaseService/ForceReleaseLease': ADMINS,
  'TaskService/RequeueTask': ['member', 'admin', 'owner'],
  'HistoryService/ListNotifications': PEOPLE,
  'HistoryService/AcknowledgeNotifications': PEOPLE,
  'ProjectService/CreateProject': ['owner'],
  'ProjectService/UpdateProject': ADMINS,
  'ProjectService/CreateToken': ADMINS,
  'ProjectService/ListTokens': ADMINS,
  'ProjectService/RevokeToken': ADMINS,
  'ProjectService/CreateWebhook': ADMINS,
  'ProjectService/ListWebhooks': ADMINS,
  'ProjectService/DeleteWebhook': ADMINS,
};

const reads = (rpc: string) => /\/(Get|List|Watch|Check|WhoAmI)/.test(rpc);
const mayCall = (rpc: string) => NARROWER[rpc] ?? (reads(rpc) ? READERS : WORKERS);

let board: Board;
beforeAll(async () => {
  board = await startBoard();
});

describe.each(NAMES)('%s', (rpc) => {
  it.each(ROLES)('is told to the role %s, or refused', async (role) => {
    const { code } = await board.any.call(rpc, requestOf(rpc), board[role].token);
    if (!mayCall(rpc).includes(role)) expect(code).toBe('PermissionDenied');
    else expect(['Ok', 'NotFound']).toContain(code);
  });
});

test('an agent names its execution with every write, and with a check of one', async () => {
  const ownWrites = NAMES.filter((rpc) => mayCall(rpc).includes('agent') && 'executionId' in requestOf(rpc));
  expect(ownWrites.length).toBeGreaterThan(15);
  for (const rpc of ownWrites) {
    const { executionId: _, ...request } = requestOf(rpc);
    const result = await board.any.call(rpc, request, board.agent.token);
    expect([rpc, result.code]).toEqual([rpc, 'InvalidArgument']);
    const [violation] = result.code === 'Ok' ? [] : result.error.findDetails(FieldViolationSchema);
    expect(violation?.field).toBe('execution_id');
  }
});

test('a person may write without one', async () => {
  const { task } = await board.member.tasks.createTask({ title: 'by hand' });
  const taskId = task?.id ?? '';
  await board.member.tasks.addNote({ taskId, text: 'seen' });
  expect((await board.member.tasks.completeTask({ taskId })).task?.closedBy).toBe('mia');
});

describe('no call is anybody’s', () => {
  const secret = `hf_${'a'.repeat(43)}`;
  const expired = async () => {
    const { token } = await board.admin.projects.createToken({
      principal: 'brief',
      kind: 2,
      role: 4,
      expiresIn: { seconds: 1n, nanos: 0 },
    });
    await expect
      .poll(() => board.any.call('ProjectService/WhoAmI', {}, token), { timeout: 5_000 })
      .toMatchObject({ code: 'Unauthenticated' });
    return token;
  };
  const revoked = async () => {
    const made = await board.admin.projects.createToken({ principal: 'gone', kind: 2, role: 4 });
    expect(await board.any.call('ProjectService/WhoAmI', {}, made.token)).toMatchObject({ code: 'Ok' });
    await board.admin.projects.revokeToken({ tokenId: made.tokenId });
    return made.token;
  };

  test.each([
    ['without a token', async () => undefined],
    ['with an empty one', async () => ''],
    ['with garbage', async () => 'garbage'],
    ['with the token of a web page', async () => 'eyJhbGciOiJIUzI1NiJ9.e30.x'],
    ['with one that was never made', async () => secret],
    ['with one cut short', async () => board.owner.token.slice(0, -1)],
    ['with one too long', async () => `${board.owner.token}a`],
    ['with one in another case', async () => board.owner.token.toUpperCase()],
    ['with two', async () => `${board.owner.token}, Bearer ${board.owner.token}`],
    ['with an expired one', expired],
    ['with a revoked one', revoked],
  ])('%s', async (_, make) => {
    const token = await make();
    for (const rpc of NAMES) {
      const result = await board.any.call(rpc, requestOf(rpc), token);
      expect([rpc, result.code]).toEqual([rpc, 'Unauthenticated']);
      if (result.code !== 'Ok') expect(result.message).toContain('holdfast token create');
      if (token && token.length > 10) expect(JSON.stringify(result)).not.toContain(token);
    }
  });

  it('with another scheme', async () => {
    const res = await fetch(`${board.service.url}/holdfast.v1.ProjectService/WhoAmI`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Basic ${board.owner.token}` },
      body: '{}',
    });
    expect([res.status, await res.json()]).toEqual([
      401,
      expect.objectContaining({ code: 'unauthenticated' }),
    ]);
  });
});

test('the scheme may be written in any case', async () => {
  for (const scheme of ['bearer', 'BEARER', 'Bearer ']) {
    const res = await fetch(`${board.service.url}/holdfast.v1.ProjectService/WhoAmI`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `${scheme} ${board.owner.token}` },
      body: '{}',
    });
    expect(res.status).toBe(200);
  }
});
