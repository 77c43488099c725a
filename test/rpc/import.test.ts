import { Enforcement } from '@holdfast/proto/guard';
import { EventKind } from '@holdfast/proto/history';
import { TaskStatus } from '@holdfast/proto/task';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hold } from './board.js';
import { type ImportBoard, list, startImportBoard } from './import-board.js';
import { refused } from './refused.js';

let board: ImportBoard;
beforeAll(async () => {
  board = await startImportBoard();
});
beforeEach(() => board.begin());

const enforce = (enforcement: Enforcement) =>
  board.admin.projects.updateProject({ settings: { enforcement } });

describe('a new list', () => {
  it('becomes tasks in plans, in its order, with edges, statuses, priorities and labels', async () => {
    const results = await board.importAs(
      board.member,
      list(
        { externalKey: 'epic', plan: `${board.at}p`, planTitle: 'The plan', priority: 3 },
        {
          externalKey: 'late',
          plan: `${board.at}p`,
          blockedBy: ['early'],
          labels: ['b', 'a', 'b'],
          body: 'text',
        },
        { externalKey: 'early', plan: `${board.at}p`, parent: 'epic', assignee: 'Ada' },
        {
          externalKey: 'done',
          plan: `${board.at}p`,
          status: TaskStatus.DONE,
          result: 'shipped',
          parent: 'epic',
        },
        { externalKey: 'dropped', status: TaskStatus.DROPPED, result: 'unwanted' },
      ),
    );
    expect(results.map(({ action, line }) => [action, line])).toEqual(
      [1, 2, 3, 4, 5].map((n) => ['CREATED', n]),
    );

    const { plan, steps } = await board.viewer.tasks.getPlan({ externalKey: `${board.at}p` });
    expect(plan).toMatchObject({ title: 'The plan', stepsDone: 1, stepsTotal: 4 });
    expect(steps.map(({ title, planOrder }) => [title, planOrder])).toEqual([
      ['epic', 1],
      ['late', 2],
      ['early', 3],
      ['done', 4],
    ]);
    // The order of age is that of the list, too.
    const { tasks } = await board.viewer.tasks.listTasks({ pageSize: 1000 });
    const own = tasks.filter(({ externalKey }) => externalKey.startsWith(board.at)).map(({ title }) => title);
    expect(own).toEqual(['epic', 'late', 'early', 'done', 'dropped']);
    const [epic, late, early, done, dropped] = await Promise.all(
      ['epic', 'late', 'early', 'done', 'dropped'].map(board.taskOf),
    );
    expect(epic).toMatchObject({ priority: 3, unmetDependencies: 1, status: TaskStatus.OPEN });
    expect(late).toMatchObject({ blockedBy: [early?.id], labels: ['b', 'a'], body: 'text' });
    expect(early).toMatchObject({ parentId: epic?.id, assignee: 'ada', unmetDependencies: 0 });
    expect(done).toMatchObject({ status: TaskStatus.DONE, result: 'shipped', closedBy: 'mia' });
    expect(dropped).toMatchObject({ status: TaskStatus.DROPPED, result: '', planId: '' });
    expect(await board.kindsOf(early?.id ?? '')).toEqual(['TASK_CREATED', 'TASK_READY']);
    expect(await board.kindsOf(late?.id ?? '')).toEqual(['TASK_CREATED']);
    expect(await board.kindsOf(done?.id ?? '')).toEqual(['TASK_CREATED', 'TASK_COMPLETED']);
    expect(await board.kindsOf(dropped?.id ?? '')).toEqual(['TASK_CREATED', 'TASK_DROPPED']);
    expect(await board.miscounted()).toEqual([]);
  });

  it('offers waiting agents nothing that is blocked or finished', async () => {
    const waiting = [board.agent, board.rival].map((who) =>
      who.leases.acquireNextTask({
        executionId: `${board.at}wait`,
        labels: [board.at],
        wait: { seconds: 5n, nanos: 0 },
      }),
    );
    const labels = [board.at];
    await board.importAs(
      board.member,
      list(
        { externalKey: 'parent', labels },
        { externalKey: 'blocked', labels, blockedBy: ['first'] },
        { externalKey: 'done', labels, status: TaskStatus.DONE },
        { externalKey: 'first', labels, parent: 'parent' },
        { externalKey: 'second', labels },
      ),
    );
    const titles = (await Promise.all(waiting)).map(({ outcome }) =>
      outcome.case === 'grant' ? outcome.value.task?.title : outcome.case,
    );
    expect(titles.sort()).toEqual(['first', 'second']);
  });

  it('goes on with the fencing counter of a deleted task of the same key', async () => {
    await board.importAs(board.member, list({ externalKey: 'a' }));
    const { id } = await board.taskOf('a');
    await hold(board.agent, id);
    await board.admin.tasks.deleteTask({ taskId: id, overrideReason: 'a test' });
    expect(await board.actions(board.member, list({ externalKey: 'a' }))).toEqual({ a: 'CREATED' });
    expect((await board.taskOf('a')).fencingToken).toBe(1n);
  });

  it('may have a parent that also names its sub-task', async () => {
    await board.importAs(
      board.member,
      list({ externalKey: 'p', blockedBy: ['c'] }, { externalKey: 'c', parent: 'p' }),
    );
    expect(await board.taskOf('p')).toMatchObject({
      unmetDependencies: 1,
      blockedBy: [(await board.taskOf('c')).id],
    });
    expect(await board.miscounted()).toEqual([]);
  });

  it('of 1,000 tasks takes a few seconds', async () => {
    const tasks = Array.from({ length: 1000 }, (_, n) => ({
      externalKey: `t${n}`,
      plan: `${board.at}p`,
      ...(n >= 3 && { blockedBy: [`t${n - 1}`, `t${n - 2}`, `t${n - 3}`] }),
    }));
    const started = performance.now();
    const results = await board.importAs(board.member, list(...tasks));
    // Loosely: this machine may be busy. One after the other, they took 20 s and more.
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(results.every(({ action }) => action === 'CREATED')).toBe(true);
    const again = await board.importAs(board.member, list(...tasks));
    expect(again.every(({ action }) => action === 'UNCHANGED')).toBe(true);
    expect(await board.miscounted()).toEqual([]);
  });

  it('is imported once by many at the same time', async () => {
    const tasks = list(
      { externalKey: 'a', plan: `${board.at}p` },
      { externalKey: 'b', blockedBy: ['a'], plan: `${board.at}p` },
    );
    const all = await Promise.all(
      Array.from({ length: 6 }, (_, n) => board.importAs(n % 2 ? board.member : board.admin, tasks)),
    );
    expect(new Set(all.flat().map(({ taskId }) => taskId)).size).toBe(2);
    expect(all.flat().filter(({ action }) => action === 'CREATED')).toHaveLength(2);
    expect(await board.miscounted()).toEqual([]);
  });
});

describe('a list again', () => {
  it('changes nothing and tells nothing when it is the same', async () => {
    const tasks = list(
      { externalKey: 'a', body: 'x', labels: ['l'], priority: 2 },
      { externalKey: 'b', parent: 'a' },
      { externalKey: 'c', blockedBy: ['a'], status: TaskStatus.DROPPED },
    );
    await board.importAs(board.member, tasks);
    const before = await board.sql`SELECT count(*) AS n FROM event`;
    expect(await board.actions(board.member, tasks)).toEqual({
      a: 'UNCHANGED',
      b: 'UNCHANGED',
      c: 'UNCHANGED',
    });
    expect(await board.sql`SELECT count(*) AS n FROM event`).toEqual(before);
  });

  it('updates content, adds edges, and finishes what the list says is finished, in the order of waiting', async () => {
    await board.importAs(
      board.member,
      list({ externalKey: 'a' }, { externalKey: 'b' }, { externalKey: 'c', parent: 'b' }),
    );
    expect(
      await board.actions(
        board.member,
        list(
          { externalKey: 'd', blockedBy: ['a'], status: TaskStatus.DONE },
          { externalKey: 'b', status: TaskStatus.DONE, result: 'both', title: 'B' },
          { externalKey: 'a', blockedBy: ['b'], status: TaskStatus.DONE },
          { externalKey: 'c', parent: 'b', status: TaskStatus.DROPPED, result: 'no need' },
        ),
      ),
    ).toEqual({ a: 'UPDATED', b: 'UPDATED', c: 'UPDATED', d: 'CREATED' });
    const b = await board.taskOf('b');
    expect(b).toMatchObject({ title: 'B', status: TaskStatus.DONE, result: 'both' });
    expect(await board.taskOf('a')).toMatchObject({ blockedBy: [b.id], status: TaskStatus.DONE });
    expect((await board.taskOf('c')).status).toBe(TaskStatus.DROPPED);
    expect(await board.miscounted()).toEqual([]);
  });

  it('reopens, unfinishes, moves and unlinks nothing', async () => {
    await board.importAs(
      board.member,
      list(
        { externalKey: 'a', status: TaskStatus.DONE, plan: `${board.at}p` },
        { externalKey: 'b', blockedBy: ['a'] },
        { externalKey: 'c', status: TaskStatus.DROPPED },
      ),
    );
    expect(
      await board.actions(
        board.member,
        list(
          { externalKey: 'a', plan: `${board.at}q` },
          { externalKey: 'b' },
          { externalKey: 'c', status: TaskStatus.DONE },
        ),
      ),
    ).toEqual({ a: 'UNCHANGED', b: 'UNCHANGED', c: 'UNCHANGED' });
    expect((await board.taskOf('a')).status).toBe(TaskStatus.DONE);
    expect((await board.taskOf('b')).blockedBy).toHaveLength(1);
    expect((await board.taskOf('c')).status).toBe(TaskStatus.DROPPED);
  });

  it('touches only the fields of the update mask, and no assignee that it does not name', async () => {
    await board.importAs(
      board.member,
      list({ externalKey: 'a', priority: 5, labels: ['l'], assignee: 'ada' }),
    );
    await board.importAs(board.member, list({ externalKey: 'a', title: 'A' }), {
      updateMask: { paths: ['title'] },
    });
    expect(await board.taskOf('a')).toMatchObject({
      title: 'A',
      priority: 5,
      labels: ['l'],
      assignee: 'ada',
    });
    await board.importAs(board.member, list({ externalKey: 'a', title: 'A' }));
    expect(await board.taskOf('a')).toMatchObject({ priority: 0, labels: [], assignee: 'ada' });
    expect(
      await refused(board.importAs(board.member, [], { updateMask: { paths: ['status'] } })),
    ).toMatchObject({
      code: 'InvalidArgument',
    });
  });

  it('gives tasks that are there new sub-tasks and new things to wait for', async () => {
    await board.importAs(board.member, list({ externalKey: 'a' }, { externalKey: 'b' }));
    expect(
      await board.actions(
        board.member,
        list(
          { externalKey: 'child', parent: 'a' },
          { externalKey: 'b', parent: 'a', blockedBy: ['new'] },
          { externalKey: 'new' },
        ),
      ),
    ).toEqual({ child: 'CREATED', b: 'UPDATED', new: 'CREATED' });
    expect(await board.taskOf('a')).toMatchObject({ unmetDependencies: 2, parentId: '' });
    expect(await board.taskOf('b')).toMatchObject({ unmetDependencies: 1, parentId: '' });
    expect(await board.miscounted()).toEqual([]);
  });
});

describe('the guard', () => {
  it('refuses an agent the tasks that it does not hold, one by one, and the history tells', async () => {
    await enforce(Enforcement.ENFORCE);
    try {
      await board.importAs(board.member, list({ externalKey: 'held' }, { externalKey: 'free' }));
      const { id } = await board.taskOf('held');
      await hold(board.rival, id);
      const again = list(
        { externalKey: 'held', title: 'changed' },
        { externalKey: 'free', status: TaskStatus.DONE },
        { externalKey: 'child', parent: 'held' },
        { externalKey: 'grandchild', blockedBy: ['child'] },
        { externalKey: 'new', status: TaskStatus.DONE },
      );
      const expected = [
        ['held', 'FAILED', expect.stringContaining('LOCKED_BY_OTHER')],
        ['free', 'FAILED', expect.stringContaining('LOCK_REQUIRED')],
        ['child', 'FAILED', expect.stringContaining('LOCKED_BY_OTHER')],
        ['grandchild', 'FAILED', expect.stringContaining('"child", which has an error itself')],
        ['new', 'CREATED', ''],
      ];
      const told = (results: Awaited<ReturnType<ImportBoard['importAs']>>) =>
        results.map(({ key, action, error }) => [key, action, error]);
      expect(told(await board.importAs(board.agent, again, { dryRun: true }))).toEqual(expected);
      expect(await board.kindsOf(id)).not.toContain('WRITE_REJECTED');
      expect(told(await board.importAs(board.agent, again))).toEqual(expected);
      expect(await board.kindsOf(id)).toContain('WRITE_REJECTED');
      expect(await board.taskOf('held')).toMatchObject({ title: 'held', unmetDependencies: 0 });
    } finally {
      await enforce(Enforcement.WARN);
    }
  });

  it('lets it pass in WARN, and says so', async () => {
    await board.importAs(board.member, list({ externalKey: 'a' }, { externalKey: 'p' }));
    const { id } = await board.taskOf('a');
    await hold(board.rival, id);
    expect(
      await board.actions(
        board.agent,
        list(
          { externalKey: 'a', status: TaskStatus.DONE },
          { externalKey: 'b', parent: 'p' },
          { externalKey: 'c', parent: 'p' },
        ),
      ),
    ).toEqual({ a: 'UPDATED', b: 'CREATED', c: 'CREATED' });
    expect(await board.kindsOf(id)).toEqual(
      expect.arrayContaining(['WRITE_WARNED', 'TASK_COMPLETED', 'LEASE_REVOKED']),
    );
    const parent = await board.taskOf('p');
    expect(await board.kindsOf(parent.id)).toEqual([
      'TASK_CREATED',
      'TASK_READY',
      'WRITE_WARNED',
      'DEPENDENCY_ADDED',
      'DEPENDENCY_ADDED',
    ]);
    const { events } = await board.viewer.history.listHistory({
      taskId: parent.id,
      kinds: [EventKind.WRITE_WARNED],
    });
    expect(events[0]?.payload).toMatchObject({ value: { rpc: 'ImportTasks' } });
  });
});

describe('a dry run', () => {
  it('says what would happen and writes nothing', async () => {
    await board.importAs(board.member, list({ externalKey: 'a' }, { externalKey: 'b' }));
    const before =
      await board.sql`SELECT (SELECT count(*) FROM event) AS e, (SELECT count(*) FROM request) AS r,
      (SELECT count(*) FROM plan) AS p, (SELECT count(*) FROM task) AS t`;
    expect(
      await board.actions(
        board.member,
        list(
          { externalKey: 'a' },
          { externalKey: 'b', title: 'B' },
          { externalKey: 'c', plan: `${board.at}p` },
        ),
        { dryRun: true, requestId: `${board.at}dry` },
      ),
    ).toEqual({ a: 'UNCHANGED', b: 'UPDATED', c: 'CREATED' });
    expect(
      await board.sql`SELECT (SELECT count(*) FROM event) AS e, (SELECT count(*) FROM request) AS r,
      (SELECT count(*) FROM plan) AS p, (SELECT count(*) FROM task) AS t`,
    ).toEqual(before);
  });

  it('takes for granted what other calls will have brought', async () => {
    const tasks = list({ externalKey: 'a', blockedBy: ['elsewhere'], status: TaskStatus.DONE });
    expect(await board.actions(board.member, tasks, { dryRun: true })).toEqual({ a: 'FAILED' });
    expect(
      await board.actions(board.member, tasks, { dryRun: true, assumedKeys: [`${board.at}elsewhere`] }),
    ).toEqual({
      a: 'CREATED',
    });
  });
});
