import { TaskStatus } from '@holdfast/proto/task';
import { beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import { type ImportBoard, type Listed, list, startImportBoard } from './import-board.js';
import { refused } from './refused.js';

let board: ImportBoard;
beforeAll(async () => {
  board = await startImportBoard();
});
beforeEach(() => board.begin());

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
    const results = await board.importAs(board.member, list({ externalKey: 'good' }, ...tasks));
    const failed = results.filter(({ action }) => action === 'FAILED');
    // A sub-task of a faulty one cannot be, either.
    const first = failed.filter(({ error }) => !error.includes('which has an error itself'));
    expect(first).toEqual([
      expect.objectContaining({ key, error: expect.stringContaining(says), line: expect.any(Number) }),
    ]);
    expect(
      results.filter(({ action }) => action !== 'FAILED').every(({ action }) => action === 'SKIPPED'),
    ).toBe(true);
    expect(await refused(board.viewer.tasks.getTask({ externalKey: `${board.at}good` }))).toMatchObject({
      code: 'NotFound',
    });
  });

  test.each(bad)('(%s) stays out alone, if that is allowed', async (_, tasks, key) => {
    const results = await board.importAs(board.member, list({ externalKey: 'good' }, ...tasks), {
      allowPartial: true,
    });
    for (const result of results) {
      const isLost = result.key === key || result.error.includes('which has an error itself');
      expect([result.key, result.action]).toEqual([result.key, isLost ? 'FAILED' : 'CREATED']);
    }
    expect(await board.taskOf('good')).toBeTruthy();
    expect(await board.miscounted()).toEqual([]);
  });

  it('takes with it what needs it', async () => {
    const tasks = list(
      { externalKey: 'c', blockedBy: ['b'] },
      { externalKey: 'b', parent: 'a' },
      { externalKey: 'a', title: '' },
      { externalKey: 'd' },
    );
    expect(await board.actions(board.member, tasks, { allowPartial: true })).toEqual({
      a: 'FAILED',
      b: 'FAILED',
      c: 'FAILED',
      d: 'CREATED',
    });
  });

  it('names the line of the first with the same key', async () => {
    const [, second] = await board.importAs(board.member, list({ externalKey: 'a' }, { externalKey: 'a' }));
    expect(second).toMatchObject({
      action: 'FAILED',
      line: 2,
      error: 'its external_key "a" is that of line 1, too',
    });
  });

  it('may be in a cycle that leads through tasks that are there and not in the list', async () => {
    await board.importAs(
      board.member,
      list(
        { externalKey: 'x', blockedBy: ['y'] },
        { externalKey: 'y', blockedBy: ['z'] },
        { externalKey: 'z' },
      ),
    );
    const [z] = await board.importAs(
      board.member,
      list({ externalKey: 'z', blockedBy: ['new'] }, { externalKey: 'new', blockedBy: ['x'] }),
    );
    const { id } = await board.taskOf('y');
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
    const results = await board.importAs(board.member, list(...chain));
    expect(results.filter(({ action }) => action === 'FAILED').map(({ error }) => error)[0]).toContain(
      'a cycle of 1000 task(s)',
    );
  });

  it('may be the state of the task that is there', async () => {
    await board.importAs(board.member, list({ externalKey: 'a', blockedBy: ['b'] }, { externalKey: 'b' }));
    const [a] = await board.importAs(board.member, list({ externalKey: 'a', status: TaskStatus.DONE }));
    expect(a).toMatchObject({
      action: 'FAILED',
      error: 'it is DONE in the list, but waits for "b": not DONE',
    });
  });
});

test('a list with too many dependencies is refused as a whole, before anything is read', async () => {
  const blockedBy = Array.from({ length: 1_000 }, (_, n) => `b${n}`);
  const dense = Array.from({ length: 11 }, (_, n) => ({ externalKey: `w${n}`, title: 'x', blockedBy }));
  const answer = await refused(board.member.tasks.importTasks({ tasks: dense, dryRun: true }));
  expect(answer).toMatchObject({ code: 'InvalidArgument', field: 'tasks' });
  expect(answer.text).toContain('have 11000 entries in blocked_by and parent; at most 10000 in one call');
});
