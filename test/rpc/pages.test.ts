import type { JsonObject } from '@bufbuild/protobuf';
import { beforeAll, describe, expect, it, test, vi } from 'vitest';
import { connect } from '../support/postgres.js';
import { type Board, hold, startBoard } from './board.js';
import { METHODS, NAMES } from './methods.js';
import { requestOf } from './requests.js';

let board: Board;
beforeAll(async () => {
  board = await startBoard();
});

type Rows = { readonly id: string }[];

/** All rows of a list, page by page. */
async function allPages(
  rpc: string,
  request: JsonObject,
  rows: (answer: JsonObject) => unknown,
  eachPage: () => Promise<unknown> = async () => {},
): Promise<Rows> {
  const found: Rows = [];
  let pageToken = '';
  for (let page = 0; page < 200; page++) {
    const result = await board.any.call(rpc, { ...request, pageToken }, board.owner.token);
    if (result.code !== 'Ok') throw result.error;
    const here = (rows(result.answer) ?? []) as Rows;
    expect(here.length).toBeLessThanOrEqual(Number(request.pageSize));
    found.push(...here);
    pageToken = String(result.answer.nextPageToken ?? '');
    if (!pageToken) return found;
    await eachPage();
  }
  throw new Error('the pages do not end');
}

describe('all pages tell each row exactly once, while others write', () => {
  test('tasks', async () => {
    const labels = ['paged'];
    const make = async () => (await board.member.tasks.createTask({ title: 'row', labels })).task?.id ?? '';
    const before = await Promise.all(Array.from({ length: 25 }, make));
    const request = { labels, pageSize: 3 };
    const found = await allPages(
      'TaskService/ListTasks',
      request,
      ({ tasks }) => tasks,
      () => Promise.all([make(), board.task('of no label')]),
    );
    const ids = found.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(expect.arrayContaining(before));
  });

  test('the history, in the order of its positions, either way', async () => {
    for (let n = 0; n < 20; n++) await board.task(`row ${n}`);
    const positions = (rows: Rows) =>
      rows.map((row) => Number((row as unknown as { position: string }).position));
    const oldest = positions(
      await allPages(
        'HistoryService/ListHistory',
        { pageSize: 7 },
        ({ events }) => events,
        () => board.task(),
      ),
    );
    expect(oldest).toEqual(Array.from({ length: oldest.length }, (_, n) => n + 1));
    const request = { pageSize: 7, order: 'HISTORY_ORDER_NEWEST_FIRST' };
    const newest = positions(
      await allPages(
        'HistoryService/ListHistory',
        request,
        ({ events }) => events,
        () => board.task(),
      ),
    );
    const first = newest[0] ?? 0;
    expect(first).toBeGreaterThanOrEqual(oldest.length);
    expect(newest).toEqual(Array.from({ length: first }, (_, n) => first - n));
  });

  test('one task’s history, while refusals are recorded beside its changes', async () => {
    const { id: taskId } = await board.task('busy');
    await hold(board.agent, taskId, 3600);
    const crowd = await Promise.all(
      Array.from({ length: 8 }, async (_, n) =>
        board.service.client(await board.service.token('AGENT', 'agent', `crowd-${n}`), 'run'),
      ),
    );
    const noise = async () => {
      const writes = crowd.flatMap((client, n) => [
        client.leases.acquireLease({ taskId, executionId: 'run' }),
        client.tasks.addNote({ taskId, text: `note ${n}`, executionId: 'run' }),
      ]);
      await Promise.all(writes);
    };
    await noise();
    await noise();
    const all = await board.viewer.history.listHistory({ taskId, pageSize: 1000 });
    const paged = await allPages(
      'HistoryService/ListHistory',
      { taskId, pageSize: 2 },
      ({ events }) => events,
    );
    const expected = all.events.map(({ position }) => Number(position));
    expect(expected.length).toBeGreaterThan(30);
    expect(expected).toEqual(expected.toSorted((a, b) => a - b));
    expect(paged.map((row) => Number((row as unknown as { position: string }).position))).toEqual(expected);
  });

  test('one task’s history, when an event was numbered before an older one was committed', async () => {
    const { id: taskId } = await board.task('late commit');
    const sql = connect(board.service.databaseUrl, { max: 1 });
    // A refusal takes no lock on the task: its event may be committed after younger ones.
    await sql.begin(async (late) => {
      await late`INSERT INTO event (project, kind, at, task_id, fencing_token, payload)
        VALUES ('default', 20, holdfast_now(), ${taskId}, 0, '{"reason": "HELD"}')`;
      await board.member.tasks.addNote({ taskId, text: 'younger' });
      await board.viewer.history.listHistory({ taskId });
    });
    await sql.end();
    for (const order of ['HISTORY_ORDER_OLDEST_FIRST', 'HISTORY_ORDER_NEWEST_FIRST']) {
      const request = { taskId, order, pageSize: 1 };
      const paged = await allPages('HistoryService/ListHistory', request, ({ events }) => events);
      const positions = paged.map((row) => Number((row as unknown as { position: string }).position));
      expect(positions).toHaveLength(4);
      const sorted = positions.toSorted((a, b) => a - b);
      expect(positions).toEqual(order.includes('OLDEST') ? sorted : sorted.toReversed());
    }
  });

  test('leases', async () => {
    const held = await Promise.all(
      Array.from({ length: 9 }, async () => {
        const { id } = await board.task('held');
        await hold(board.rival, id, 3600);
        return id;
      }),
    );
    const request = { principal: 'ROB', pageSize: 2 };
    const found = await allPages('LeaseService/ListLeases', request, ({ leases }) => leases);
    expect(found.map((lease) => (lease as unknown as { taskId: string }).taskId)).toEqual(held.toSorted());
  });

  test('projects and tokens', async () => {
    for (let n = 0; n < 5; n++) await board.owner.projects.createProject({ project: `p-${n}` });
    const projects = await allPages(
      'ProjectService/ListProjects',
      { pageSize: 2 },
      (answer) => answer.projects,
    );
    expect(projects.map(({ id }) => id)).toEqual(['default', 'p-0', 'p-1', 'p-2', 'p-3', 'p-4']);
    const tokens = await allPages('ProjectService/ListTokens', { pageSize: 2 }, (answer) => answer.tokens);
    const { tokens: all } = await board.owner.projects.listTokens({ pageSize: 1000 });
    expect(tokens.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
    expect(all.length).toBeGreaterThan(12);
  });
});

const PAGED = NAMES.filter((rpc) => METHODS.get(rpc)?.input.fields.some(({ name }) => name === 'page_token'));

describe('a page token', () => {
  beforeAll(async () => {
    // Two rows of what nothing else here makes.
    for (const path of ['one', 'two']) {
      await board.owner.projects.createWebhook({ url: `http://127.0.0.1:9/${path}` });
      await hold(board.rival, (await board.task()).id, 1);
    }
    await vi.waitFor(
      async () => {
        expect((await board.owner.history.listNotifications({})).notifications).toHaveLength(2);
      },
      { timeout: 5_000 },
    );
  });

  it('belongs to one filter', async () => {
    await Promise.all([board.task(), board.task()]);
    const { nextPageToken: pageToken } = await board.member.tasks.listTasks({ pageSize: 1 });
    const same = await board.any.call(
      'TaskService/ListTasks',
      { pageSize: 2, pageToken },
      board.member.token,
    );
    expect(same.code).toBe('Ok');
    const filters: JsonObject[] = [
      { labels: ['x'] },
      { assignee: 'ada' },
      { holder: 'ada' },
      { planId: 'p' },
      { statuses: ['TASK_STATUS_OPEN'] },
    ];
    for (const filter of filters) {
      expect(
        await board.any.call('TaskService/ListTasks', { ...filter, pageToken }, board.member.token),
      ).toMatchObject({ code: 'InvalidArgument', message: expect.stringMatching(/^page_token /) });
    }
  });

  it('belongs to one project and one list', async () => {
    await board.owner.projects.createProject({ project: 'other pages' });
    const { nextPageToken: pageToken } = await board.owner.tasks.listTasks({ pageSize: 1 });
    for (const [rpc, request] of [
      ['TaskService/ListTasks', { project: 'other pages' }],
      ['HistoryService/ListHistory', {}],
      ['LeaseService/ListLeases', {}],
    ] as const) {
      expect(await board.any.call(rpc, { ...request, pageToken }, board.owner.token)).toMatchObject({
        code: 'InvalidArgument',
      });
    }
  });

  test.each(PAGED)('that %s did not give is refused', async (rpc) => {
    const { plan } = await board.member.tasks.createPlan({ title: 'plan' });
    const request: JsonObject = rpc.endsWith('GetPlan') ? { planId: plan?.id ?? '' } : requestOf(rpc);
    for (const pageToken of ['x', 'AAAA', ' ', '\u{1F989}', 'A'.repeat(4096)]) {
      expect([
        pageToken,
        await board.any.call(rpc, { ...request, pageToken }, board.owner.token),
      ]).toMatchObject([
        pageToken,
        { code: 'InvalidArgument', message: expect.stringMatching(/^page_token /) },
      ]);
    }
  });

  test.each(PAGED)('of %s that was tampered with breaks nothing', async (rpc) => {
    const { plan } = await board.member.tasks.createPlan({ title: 'plan' });
    const planId = plan?.id ?? '';
    for (const title of ['one', 'two']) {
      const { task } = await board.member.tasks.createTask({ title, planId });
      await hold(board.rival, task?.id ?? '', 3600);
    }
    const request: JsonObject = rpc.endsWith('GetPlan') ? { planId } : requestOf(rpc);
    const first = await board.any.call(rpc, { ...request, pageSize: 1 }, board.owner.token);
    const given = first.code === 'Ok' ? String(first.answer.nextPageToken ?? '') : '';
    expect(given).not.toBe('');
    const binding = Buffer.from(given, 'base64url').toString().slice(0, 12);
    for (const cursor of [
      '\0',
      'a\0b',
      '9'.repeat(18),
      '999999999999999999999',
      '-1',
      '1.5',
      '0x10',
      '\ud800',
      'x'.repeat(2000),
    ]) {
      const pageToken = Buffer.from(binding + cursor).toString('base64url');
      const { code } = await board.any.call(rpc, { ...request, pageToken }, board.owner.token);
      expect([cursor, code]).toEqual([cursor, expect.stringMatching(/^(Ok|InvalidArgument)$/)]);
    }
  });
});

test('a page has the size that was asked for, a hundred by default, a thousand at most', async () => {
  for (let at = 0; at < 110; at += 10) {
    await Promise.all(Array.from({ length: 10 }, () => board.task('many')));
  }
  const size = async (pageSize: number) => (await board.viewer.tasks.listTasks({ pageSize })).tasks.length;
  expect([await size(0), await size(1), await size(101)]).toEqual([100, 1, 101]);
  for (const pageSize of [-1, 1001, 2 ** 31 - 1, -(2 ** 31)]) {
    for (const rpc of PAGED) {
      const request = rpc.endsWith('GetPlan') ? { planId: 'none' } : requestOf(rpc);
      expect(await board.any.call(rpc, { ...request, pageSize }, board.owner.token)).toMatchObject({
        code: 'InvalidArgument',
        message: expect.stringMatching(/^page_size /),
      });
    }
  }
});
