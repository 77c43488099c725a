import type { MessageInitShape } from '@bufbuild/protobuf';
import { Enforcement } from '@holdfast/proto/guard';
import { EventKind } from '@holdfast/proto/history';
import {
  ImportAction,
  type ImportedTaskSchema,
  type ImportTasksRequestSchema,
  TaskStatus,
} from '@holdfast/proto/task';
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import { connect } from '../support/postgres.js';
import { type Board, hold, type Person, startBoard } from './board.js';
import { refused } from './refused.js';

type Listed = MessageInitShape<typeof ImportedTaskSchema>;
type Options = Omit<MessageInitShape<typeof ImportTasksRequestSchema>, 'tasks' | '$typeName'>;

let board: Board;
let sql: ReturnType<typeof connect>;
/** Goes before every key, so that tests do not meet. */
let at = '';
let tests = 0;

beforeAll(async () => {
  board = await startBoard();
  sql = connect(board.service.databaseUrl, { max: 2 });
});
afterAll(() => sql?.end());
beforeEach(() => {
  at = `${++tests}:`;
});

/** Tasks of a list, their keys as `title` unless it says otherwise. */
const list = (...tasks: Listed[]): Listed[] =>
  tasks.map((task, n) => ({ line: n + 1, title: task.externalKey ?? 'untitled', ...task }));

async function importAs(who: Person, tasks: Listed[], options: Options = {}) {
  const keyed = tasks.map(({ $typeName: _, externalKey = '', blockedBy = [], parent, ...task }) => ({
    ...task,
    externalKey: externalKey && at + externalKey,
    blockedBy: blockedBy.map((key) => at + key),
    ...(parent && { parent: at + parent }),
  }));
  const { results } = await who.tasks.importTasks({ tasks: keyed, executionId: who.executionId, ...options });
  return results.map(({ externalKey, action, error, line, taskId }) => ({
    key: externalKey.slice(at.length),
    action: ImportAction[action],
    error: error.replaceAll(at, ''),
    line,
    taskId,
  }));
}

const actions = async (...args: Parameters<typeof importAs>) =>
  Object.fromEntries((await importAs(...args)).map(({ key, action }) => [key, action]));

async function taskOf(key: string) {
  const { task } = await board.viewer.tasks.getTask({ externalKey: at + key });
  if (!task) throw new Error(`no task ${key}`);
  return task;
}

const kindsOf = async (taskId: string) =>
  (await board.viewer.history.listHistory({ taskId })).events.map(({ kind }) => EventKind[kind]);

/** The counts of edges that are kept, beside those that the edges give. */
async function miscounted() {
  return sql`
    SELECT * FROM (
      SELECT s.task_id, s.unmet, s.blockers, s.dependents, s.status, q.standing,
        (SELECT count(*) FROM dependency d JOIN task_state b ON b.project = d.project AND b.task_id = d.blocker_id
          WHERE d.project = s.project AND d.task_id = s.task_id
            AND NOT (b.status = 3 OR b.status = 4 AND d.accept_dropped)) AS real_unmet,
        (SELECT count(*) FROM dependency d WHERE d.project = s.project AND d.task_id = s.task_id) AS real_blockers,
        (SELECT count(*) FROM dependency d WHERE d.project = s.project AND d.blocker_id = s.task_id) AS real_dependents
      FROM task t JOIN task_state s ON s.project = t.project AND s.task_id = t.id LEFT JOIN queue q ON q.project = s.project AND q.task_id = s.task_id
      WHERE starts_with(t.external_key, ${at})) c
    WHERE unmet <> real_unmet OR blockers <> real_blockers OR dependents <> real_dependents
      OR (status = 1 AND standing IS DISTINCT FROM CASE WHEN unmet > 0 THEN 2 ELSE 1 END)
      OR (status IN (3, 4) AND standing IS NOT NULL)`;
}

const enforce = (enforcement: Enforcement) =>
  board.admin.projects.updateProject({ settings: { enforcement } });

describe('a new list', () => {
  it('becomes tasks in plans, in its order, with edges, statuses, priorities and labels', async () => {
    const results = await importAs(
      board.member,
      list(
        { externalKey: 'epic', plan: `${at}p`, planTitle: 'The plan', priority: 3 },
        { externalKey: 'late', plan: `${at}p`, blockedBy: ['early'], labels: ['b', 'a', 'b'], body: 'text' },
        { externalKey: 'early', plan: `${at}p`, parent: 'epic', assignee: 'Ada' },
        { externalKey: 'done', plan: `${at}p`, status: TaskStatus.DONE, result: 'shipped', parent: 'epic' },
        { externalKey: 'dropped', status: TaskStatus.DROPPED, result: 'unwanted' },
      ),
    );
    expect(results.map(({ action, line }) => [action, line])).toEqual(
      [1, 2, 3, 4, 5].map((n) => ['CREATED', n]),
    );

    const { plan, steps } = await board.viewer.tasks.getPlan({ externalKey: `${at}p` });
    expect(plan).toMatchObject({ title: 'The plan', stepsDone: 1, stepsTotal: 4 });
    expect(steps.map(({ title, planOrder }) => [title, planOrder])).toEqual([
      ['epic', 1],
      ['late', 2],
      ['early', 3],
      ['done', 4],
    ]);
    // The order of age is that of the list, too.
    const { tasks } = await board.viewer.tasks.listTasks({ pageSize: 1000 });
    const own = tasks.filter(({ externalKey }) => externalKey.startsWith(at)).map(({ title }) => title);
    expect(own).toEqual(['epic', 'late', 'early', 'done', 'dropped']);
    const [epic, late, early, done, dropped] = await Promise.all(
      ['epic', 'late', 'early', 'done', 'dropped'].map(taskOf),
    );
    expect(epic).toMatchObject({ priority: 3, unmetDependencies: 1, status: TaskStatus.OPEN });
    expect(late).toMatchObject({ blockedBy: [early?.id], labels: ['b', 'a'], body: 'text' });
    expect(early).toMatchObject({ parentId: epic?.id, assignee: 'ada', unmetDependencies: 0 });
    expect(done).toMatchObject({ status: TaskStatus.DONE, result: 'shipped', closedBy: 'mia' });
    expect(dropped).toMatchObject({ status: TaskStatus.DROPPED, result: '', planId: '' });
    expect(await kindsOf(early?.id ?? '')).toEqual(['TASK_CREATED', 'TASK_READY']);
    expect(await kindsOf(late?.id ?? '')).toEqual(['TASK_CREATED']);
    expect(await kindsOf(done?.id ?? '')).toEqual(['TASK_CREATED', 'TASK_COMPLETED']);
    expect(await kindsOf(dropped?.id ?? '')).toEqual(['TASK_CREATED', 'TASK_DROPPED']);
    expect(await miscounted()).toEqual([]);
  });

  it('offers waiting agents nothing that is blocked or finished', async () => {
    const waiting = [board.agent, board.rival].map((who) =>
      who.leases.acquireNextTask({
        executionId: `${at}wait`,
        labels: [at],
        wait: { seconds: 5n, nanos: 0 },
      }),
    );
    const labels = [at];
    await importAs(
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
    await importAs(board.member, list({ externalKey: 'a' }));
    const { id } = await taskOf('a');
    await hold(board.agent, id);
    await board.admin.tasks.deleteTask({ taskId: id, overrideReason: 'a test' });
    expect(await actions(board.member, list({ externalKey: 'a' }))).toEqual({ a: 'CREATED' });
    expect((await taskOf('a')).fencingToken).toBe(1n);
  });

  it('may have a parent that also names its sub-task', async () => {
    await importAs(
      board.member,
      list({ externalKey: 'p', blockedBy: ['c'] }, { externalKey: 'c', parent: 'p' }),
    );
    expect(await taskOf('p')).toMatchObject({ unmetDependencies: 1, blockedBy: [(await taskOf('c')).id] });
    expect(await miscounted()).toEqual([]);
  });

  it('of 1,000 tasks takes a few seconds', async () => {
    const tasks = Array.from({ length: 1000 }, (_, n) => ({
      externalKey: `t${n}`,
      plan: `${at}p`,
      ...(n >= 3 && { blockedBy: [`t${n - 1}`, `t${n - 2}`, `t${n - 3}`] }),
    }));
    const started = performance.now();
    const results = await importAs(board.member, list(...tasks));
    // Loosely: this machine may be busy. One after the other, they took 20 s and more.
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(results.every(({ action }) => action === 'CREATED')).toBe(true);
    const again = await importAs(board.member, list(...tasks));
    expect(again.every(({ action }) => action === 'UNCHANGED')).toBe(true);
    expect(await miscounted()).toEqual([]);
  });

  it('is imported once by many at the same time', async () => {
    const tasks = list(
      { externalKey: 'a', plan: `${at}p` },
      { externalKey: 'b', blockedBy: ['a'], plan: `${at}p` },
    );
    const all = await Promise.all(
      Array.from({ length: 6 }, (_, n) => importAs(n % 2 ? board.member : board.admin, tasks)),
    );
    expect(new Set(all.flat().map(({ taskId }) => taskId)).size).toBe(2);
    expect(all.flat().filter(({ action }) => action === 'CREATED')).toHaveLength(2);
    expect(await miscounted()).toEqual([]);
  });
});

describe('a list again', () => {
  it('changes nothing and tells nothing when it is the same', async () => {
    const tasks = list(
      { externalKey: 'a', body: 'x', labels: ['l'], priority: 2 },
      { externalKey: 'b', parent: 'a' },
      { externalKey: 'c', blockedBy: ['a'], status: TaskStatus.DROPPED },
    );
    await importAs(board.member, tasks);
    const before = await sql`SELECT count(*) AS n FROM event`;
    expect(await actions(board.member, tasks)).toEqual({ a: 'UNCHANGED', b: 'UNCHANGED', c: 'UNCHANGED' });
    expect(await sql`SELECT count(*) AS n FROM event`).toEqual(before);
  });

  it('updates content, adds edges, and finishes what the list says is finished, in the order of waiting', async () => {
    await importAs(
      board.member,
      list({ externalKey: 'a' }, { externalKey: 'b' }, { externalKey: 'c', parent: 'b' }),
    );
    expect(
      await actions(
        board.member,
        list(
          { externalKey: 'd', blockedBy: ['a'], status: TaskStatus.DONE },
          { externalKey: 'b', status: TaskStatus.DONE, result: 'both', title: 'B' },
          { externalKey: 'a', blockedBy: ['b'], status: TaskStatus.DONE },
          { externalKey: 'c', parent: 'b', status: TaskStatus.DROPPED, result: 'no need' },
        ),
      ),
    ).toEqual({ a: 'UPDATED', b: 'UPDATED', c: 'UPDATED', d: 'CREATED' });
    const b = await taskOf('b');
    expect(b).toMatchObject({ title: 'B', status: TaskStatus.DONE, result: 'both' });
    expect(await taskOf('a')).toMatchObject({ blockedBy: [b.id], status: TaskStatus.DONE });
    expect((await taskOf('c')).status).toBe(TaskStatus.DROPPED);
    expect(await miscounted()).toEqual([]);
  });

  it('reopens, unfinishes, moves and unlinks nothing', async () => {
    await importAs(
      board.member,
      list(
        { externalKey: 'a', status: TaskStatus.DONE, plan: `${at}p` },
        { externalKey: 'b', blockedBy: ['a'] },
        { externalKey: 'c', status: TaskStatus.DROPPED },
      ),
    );
    expect(
      await actions(
        board.member,
        list(
          { externalKey: 'a', plan: `${at}q` },
          { externalKey: 'b' },
          { externalKey: 'c', status: TaskStatus.DONE },
        ),
      ),
    ).toEqual({ a: 'UNCHANGED', b: 'UNCHANGED', c: 'UNCHANGED' });
    expect((await taskOf('a')).status).toBe(TaskStatus.DONE);
    expect((await taskOf('b')).blockedBy).toHaveLength(1);
    expect((await taskOf('c')).status).toBe(TaskStatus.DROPPED);
  });

  it('touches only the fields of the update mask, and no assignee that it does not name', async () => {
    await importAs(board.member, list({ externalKey: 'a', priority: 5, labels: ['l'], assignee: 'ada' }));
    await importAs(board.member, list({ externalKey: 'a', title: 'A' }), {
      updateMask: { paths: ['title'] },
    });
    expect(await taskOf('a')).toMatchObject({ title: 'A', priority: 5, labels: ['l'], assignee: 'ada' });
    await importAs(board.member, list({ externalKey: 'a', title: 'A' }));
    expect(await taskOf('a')).toMatchObject({ priority: 0, labels: [], assignee: 'ada' });
    expect(await refused(importAs(board.member, [], { updateMask: { paths: ['status'] } }))).toMatchObject({
      code: 'InvalidArgument',
    });
  });

  it('gives tasks that are there new sub-tasks and new things to wait for', async () => {
    await importAs(board.member, list({ externalKey: 'a' }, { externalKey: 'b' }));
    expect(
      await actions(
        board.member,
        list(
          { externalKey: 'child', parent: 'a' },
          { externalKey: 'b', parent: 'a', blockedBy: ['new'] },
          { externalKey: 'new' },
        ),
      ),
    ).toEqual({ child: 'CREATED', b: 'UPDATED', new: 'CREATED' });
    expect(await taskOf('a')).toMatchObject({ unmetDependencies: 2, parentId: '' });
    expect(await taskOf('b')).toMatchObject({ unmetDependencies: 1, parentId: '' });
    expect(await miscounted()).toEqual([]);
  });
});

describe('a record with an error', () => {
  const bad: [string, Listed[], string, string][] = [
    ['no title', [{ externalKey: 'bad', title: '' }], 'bad', 'title is required'],
    ['a long title', [{ externalKey: 'bad', title: 'x'.repeat(501) }], 'bad', 'title has 501 characters'],
    ['a NUL in its body', [{ externalKey: 'bad', body: 'a\0' }], 'bad', 'body must not contain NUL'],
    ['a label of two lines', [{ externalKey: 'bad', labels: ['a\nb'] }], 'bad', 'labels[0] must be one line'],
    ['no key', [{ title: 'x' }], '', 'external_key is required'],
    [
      'a status of now',
      [{ externalKey: 'bad', status: TaskStatus.IN_PROGRESS }],
      'bad',
      'status is IN_PROGRESS',
    ],
    [
      'an unknown status',
      [{ externalKey: 'bad', status: 77 as TaskStatus }],
      'bad',
      'status has the unknown value',
    ],
    [
      'an unknown blocker',
      [{ externalKey: 'bad', blockedBy: ['nobody'] }],
      'bad',
      'blocked_by names "nobody"',
    ],
    ['an unknown parent', [{ externalKey: 'bad', parent: 'nobody' }], 'bad', 'parent names "nobody"'],
    [
      'itself before it',
      [{ externalKey: 'bad', blockedBy: ['bad'] }],
      'bad',
      'a cycle of 1 task(s): "bad" waits for "bad"',
    ],
    [
      'its parent before it',
      [{ externalKey: 'p' }, { externalKey: 'bad', parent: 'p', blockedBy: ['p'] }],
      'bad',
      'a cycle of 2 task(s)',
    ],
    [
      'something unfinished behind it',
      [{ externalKey: 'open' }, { externalKey: 'bad', blockedBy: ['open'], status: TaskStatus.DONE }],
      'bad',
      'it is DONE in the list, but waits for "open"',
    ],
    [
      'an open sub-task',
      [
        { externalKey: 'bad', status: TaskStatus.DONE },
        { externalKey: 'open', parent: 'bad' },
      ],
      'bad',
      'it is DONE in the list, but waits for "open"',
    ],
    [
      'something dropped behind it',
      [
        { externalKey: 'gone', status: TaskStatus.DROPPED },
        { externalKey: 'bad', blockedBy: ['gone'], status: TaskStatus.DONE },
      ],
      'bad',
      'waits for "gone"',
    ],
  ];

  test.each(bad)('(%s) says which, and keeps all others out', async (_, tasks, key, says) => {
    const results = await importAs(board.member, list({ externalKey: 'good' }, ...tasks));
    const failed = results.filter(({ action }) => action === 'FAILED');
    // A sub-task of a faulty one cannot be, either.
    const first = failed.filter(({ error }) => !error.includes('which has an error itself'));
    expect(first).toEqual([
      expect.objectContaining({ key, error: expect.stringContaining(says), line: expect.any(Number) }),
    ]);
    expect(
      results.filter(({ action }) => action !== 'FAILED').every(({ action }) => action === 'SKIPPED'),
    ).toBe(true);
    expect(await refused(board.viewer.tasks.getTask({ externalKey: `${at}good` }))).toMatchObject({
      code: 'NotFound',
    });
  });

  test.each(bad)('(%s) stays out alone, if that is allowed', async (_, tasks, key) => {
    const results = await importAs(board.member, list({ externalKey: 'good' }, ...tasks), {
      allowPartial: true,
    });
    for (const result of results) {
      const isLost = result.key === key || result.error.includes('which has an error itself');
      expect([result.key, result.action]).toEqual([result.key, isLost ? 'FAILED' : 'CREATED']);
    }
    expect(await taskOf('good')).toBeTruthy();
    expect(await miscounted()).toEqual([]);
  });

  it('takes with it what needs it', async () => {
    const tasks = list(
      { externalKey: 'c', blockedBy: ['b'] },
      { externalKey: 'b', parent: 'a' },
      { externalKey: 'a', title: '' },
      { externalKey: 'd' },
    );
    expect(await actions(board.member, tasks, { allowPartial: true })).toEqual({
      a: 'FAILED',
      b: 'FAILED',
      c: 'FAILED',
      d: 'CREATED',
    });
  });

  it('names the line of the first with the same key', async () => {
    const [, second] = await importAs(board.member, list({ externalKey: 'a' }, { externalKey: 'a' }));
    expect(second).toMatchObject({
      action: 'FAILED',
      line: 2,
      error: 'its external_key "a" is that of line 1, too',
    });
  });

  it('may be in a cycle that leads through tasks that are there and not in the list', async () => {
    await importAs(
      board.member,
      list(
        { externalKey: 'x', blockedBy: ['y'] },
        { externalKey: 'y', blockedBy: ['z'] },
        { externalKey: 'z' },
      ),
    );
    const [z] = await importAs(
      board.member,
      list({ externalKey: 'z', blockedBy: ['new'] }, { externalKey: 'new', blockedBy: ['x'] }),
    );
    const { id } = await taskOf('y');
    expect(z).toMatchObject({
      action: 'FAILED',
      error: `it would be in a cycle of 4 task(s): "z" waits for "new" waits for "x" waits for "${id}" waits for "z"`,
    });
  });

  it('is told at any depth of a chain', async () => {
    const chain = Array.from({ length: 1000 }, (_, n) => ({
      externalKey: `${n}`,
      blockedBy: [`${(n + 1) % 1000}`],
    }));
    const results = await importAs(board.member, list(...chain));
    expect(results.filter(({ action }) => action === 'FAILED').map(({ error }) => error)[0]).toContain(
      'a cycle of 1000 task(s)',
    );
  });

  it('may be the state of the task that is there', async () => {
    await importAs(board.member, list({ externalKey: 'a', blockedBy: ['b'] }, { externalKey: 'b' }));
    const [a] = await importAs(board.member, list({ externalKey: 'a', status: TaskStatus.DONE }));
    expect(a).toMatchObject({
      action: 'FAILED',
      error: 'it is DONE in the list, but waits for "b": not DONE',
    });
  });
});

describe('the guard', () => {
  it('refuses an agent the tasks that it does not hold, one by one, and the history tells', async () => {
    await enforce(Enforcement.ENFORCE);
    try {
      await importAs(board.member, list({ externalKey: 'held' }, { externalKey: 'free' }));
      const { id } = await taskOf('held');
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
      const told = (results: Awaited<ReturnType<typeof importAs>>) =>
        results.map(({ key, action, error }) => [key, action, error]);
      expect(told(await importAs(board.agent, again, { dryRun: true }))).toEqual(expected);
      expect(await kindsOf(id)).not.toContain('WRITE_REJECTED');
      expect(told(await importAs(board.agent, again))).toEqual(expected);
      expect(await kindsOf(id)).toContain('WRITE_REJECTED');
      expect(await taskOf('held')).toMatchObject({ title: 'held', unmetDependencies: 0 });
    } finally {
      await enforce(Enforcement.WARN);
    }
  });

  it('lets it pass in WARN, and says so', async () => {
    await importAs(board.member, list({ externalKey: 'a' }, { externalKey: 'p' }));
    const { id } = await taskOf('a');
    await hold(board.rival, id);
    expect(
      await actions(
        board.agent,
        list(
          { externalKey: 'a', status: TaskStatus.DONE },
          { externalKey: 'b', parent: 'p' },
          { externalKey: 'c', parent: 'p' },
        ),
      ),
    ).toEqual({ a: 'UPDATED', b: 'CREATED', c: 'CREATED' });
    expect(await kindsOf(id)).toEqual(
      expect.arrayContaining(['WRITE_WARNED', 'TASK_COMPLETED', 'LEASE_REVOKED']),
    );
    const parent = await taskOf('p');
    expect(await kindsOf(parent.id)).toEqual([
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
    await importAs(board.member, list({ externalKey: 'a' }, { externalKey: 'b' }));
    const before = await sql`SELECT (SELECT count(*) FROM event) AS e, (SELECT count(*) FROM request) AS r,
      (SELECT count(*) FROM plan) AS p, (SELECT count(*) FROM task) AS t`;
    expect(
      await actions(
        board.member,
        list({ externalKey: 'a' }, { externalKey: 'b', title: 'B' }, { externalKey: 'c', plan: `${at}p` }),
        { dryRun: true, requestId: `${at}dry` },
      ),
    ).toEqual({ a: 'UNCHANGED', b: 'UPDATED', c: 'CREATED' });
    expect(
      await sql`SELECT (SELECT count(*) FROM event) AS e, (SELECT count(*) FROM request) AS r,
      (SELECT count(*) FROM plan) AS p, (SELECT count(*) FROM task) AS t`,
    ).toEqual(before);
  });

  it('takes for granted what other calls will have brought', async () => {
    const tasks = list({ externalKey: 'a', blockedBy: ['elsewhere'], status: TaskStatus.DONE });
    expect(await actions(board.member, tasks, { dryRun: true })).toEqual({ a: 'FAILED' });
    expect(await actions(board.member, tasks, { dryRun: true, assumedKeys: [`${at}elsewhere`] })).toEqual({
      a: 'CREATED',
    });
  });
});
