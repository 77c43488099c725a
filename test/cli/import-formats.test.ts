import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TaskStatus } from '@holdfast/proto/task';
import { afterAll, describe, expect, it } from 'vitest';
import { chunksOf } from '../../src/cli/import/chunks.js';
import { readTaskFile } from '../../src/cli/import/read-task-file.js';
import { fileTask } from '../../src/cli/import/task-file.js';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-formats-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function read(text: string, options: { named?: boolean; planTitle?: string } = {}) {
  const file = join(folder, 'file');
  writeFileSync(file, text);
  return readTaskFile(file, undefined, { name: 'file', named: false, planTitle: undefined, ...options });
}

const lines = (...values: object[]) => values.map((value) => JSON.stringify(value)).join('\n');
const waits = (to: string, type = 'blocks') => ({ depends_on_id: to, type });

describe('a beads export', () => {
  it('carries over what an issue is', () => {
    const { tasks, errors, notes } = read(
      lines({
        id: 'app-1',
        title: 'Sign in',
        description: 'With a password.',
        design: 'A form.',
        acceptance_criteria: 'It works.',
        notes: '',
        status: 'in_progress',
        priority: 0,
        issue_type: 'feature',
        assignee: 'ada',
        labels: ['web'],
        created_at: '2026-01-01T00:00:00Z',
      }),
    );
    expect({ errors, notes }).toEqual({ errors: [], notes: [] });
    expect(tasks).toEqual([
      fileTask({
        line: 1,
        externalKey: 'bd:app-1',
        title: 'Sign in',
        body: 'With a password.\n\n## Design\n\nA form.\n\n## Acceptance criteria\n\nIt works.',
        priority: 4,
        labels: ['web', 'type:feature'],
        assignee: 'ada',
      }),
    ]);
  });

  it('knows dependencies by their types, and leaves out tombstones', () => {
    const { tasks } = read(
      lines(
        { id: 'e', title: 'Epic', issue_type: 'epic' },
        {
          id: 'a',
          title: 'A',
          dependencies: [
            waits('b'),
            waits('c', 'discovered-from'),
            waits('e', 'parent-child'),
            waits('gone'),
            { issue_id: 'other', depends_on_id: 'c', type: 'blocks' },
          ],
        },
        { id: 'b', title: 'B', status: 'deferred' },
        { id: 'c', title: 'C', priority: 4 },
        { id: 'gone', title: 'Gone', status: 'tombstone' },
      ),
    );
    expect(
      tasks.map(({ externalKey, blockedBy, parent, labels }) => [externalKey, blockedBy, parent, labels]),
    ).toEqual([
      ['bd:e', [], '', ['type:epic']],
      ['bd:a', ['bd:b'], 'bd:e', []],
      ['bd:b', [], '', ['deferred']],
      ['bd:c', [], '', []],
    ]);
  });

  it('lets sub-tasks wait for what their parents wait for, but never in a circle', () => {
    const { tasks } = read(
      lines(
        { id: 'e', title: 'Epic', dependencies: [waits('x'), waits('y'), waits('a')] },
        { id: 'a', title: 'A', dependencies: [waits('e', 'parent-child')] },
        { id: 'b', title: 'B', dependencies: [waits('a', 'parent-child')] },
        { id: 'x', title: 'X' },
        { id: 'y', title: 'Y', dependencies: [waits('b')] },
      ),
    );
    expect(Object.fromEntries(tasks.map(({ externalKey, blockedBy }) => [externalKey, blockedBy]))).toEqual({
      'bd:e': ['bd:x', 'bd:y', 'bd:a'],
      'bd:a': ['bd:x', 'bd:y'],
      'bd:b': ['bd:x'],
      'bd:x': [],
      'bd:y': ['bd:b'],
    });
  });

  it('leaves out what closed issues still wait for, and says so', () => {
    const { tasks, notes } = read(
      lines(
        { id: 'e', title: 'E', status: 'closed', close_reason: 'shipped' },
        { id: 'a', title: 'A', dependencies: [waits('e', 'parent-child')] },
        { id: 'b', title: 'B', status: 'closed', dependencies: [waits('a'), waits('e')] },
      ),
    );
    expect(notes).toEqual(['Left out: 2 tie(s) of closed issues to unfinished ones.']);
    expect(
      tasks.map(({ status, blockedBy, parent, result }) => [TaskStatus[status], blockedBy, parent, result]),
    ).toEqual([
      ['DONE', [], '', 'shipped'],
      ['OPEN', [], '', ''],
      ['DONE', ['bd:e'], '', ''],
    ]);
  });

  it.each([
    ['{"id":"a","title":', 'this is not JSON'],
    ['[1]', 'is no JSON object'],
    ['{"title":"A"}', 'this issue has no id'],
    ['{"id":"a","title":" "}', 'a has no title'],
    ['{"id":"a","title":"A","status":"asleep"}', 'a has the unknown status "asleep"'],
    ['{"id":"a","title":"A","priority":7}', 'a has the priority 7'],
    ['{"id":"a","title":"A","dependencies":[{"type":"blocks"}]}', 'a has a dependency without depends_on_id'],
    ['{"id":"ok","title":"again"}', 'this is bd:ok again, as on line 1'],
  ])('tells the line of %s', (bad, says) => {
    const { tasks, errors } = read(`{"id":"ok","title":"fine"}\n\n${bad}\n{"id":"last","title":"fine"}\n`);
    expect(errors).toEqual([{ line: 3, message: expect.stringContaining(says) }]);
    expect(tasks.map(({ externalKey }) => externalKey)).toEqual(['bd:ok', 'bd:last']);
  });
});

describe('a tasks.json of task-master', () => {
  const file = {
    master: {
      tasks: [
        {
          id: 1,
          title: 'Set up',
          description: 'The server.',
          status: 'done',
          dependencies: [],
          priority: 'high',
        },
        {
          id: 2,
          title: 'Sign in',
          details: 'With a form.',
          testStrategy: 'By hand.',
          status: 'pending',
          dependencies: [1],
          priority: 'low',
          subtasks: [
            { id: 1, title: 'Form', status: 'pending', dependencies: [] },
            { id: 2, title: 'Session', status: 'cancelled', dependencies: [1, '3', '2.1'] },
          ],
        },
        { id: 3, title: 'Docs', status: 'review' },
      ],
      metadata: { created: '2026-01-01' },
    },
    other: { tasks: [{ id: 1, title: 'Else' }] },
  };

  it('carries over tags, sub-tasks, dependencies, statuses and priorities', () => {
    const { tasks, errors } = read(JSON.stringify(file, null, 2));
    expect(errors).toEqual([]);
    expect(
      tasks.map(({ line, externalKey, status, priority, blockedBy, parent, plan, planTitle, labels }) => [
        line,
        externalKey,
        TaskStatus[status],
        priority,
        blockedBy,
        parent,
        plan,
        planTitle,
        labels,
      ]),
    ).toEqual([
      [4, 'tm:master/1', 'DONE', 3, [], '', 'tm:master', 'master', []],
      [12, 'tm:master/2', 'OPEN', 1, ['tm:master/1'], '', 'tm:master', 'master', []],
      [23, 'tm:master/2.1', 'OPEN', 1, ['tm:master/1'], 'tm:master/2', 'tm:master', 'master', []],
      [
        29,
        'tm:master/2.2',
        'DROPPED',
        1,
        ['tm:master/2.1', 'tm:master/3'],
        'tm:master/2',
        'tm:master',
        'master',
        [],
      ],
      [41, 'tm:master/3', 'OPEN', 2, [], '', 'tm:master', 'master', ['review']],
      [53, 'tm:other/1', 'OPEN', 2, [], '', 'tm:other', 'other', []],
    ]);
    expect(tasks[1]?.body).toBe('## Details\n\nWith a form.\n\n## Test strategy\n\nBy hand.');
  });

  it('reads a file without tags, under another name and plan', () => {
    const { tasks } = read(JSON.stringify({ tasks: [{ id: 1, title: 'A' }] }), {
      named: true,
      planTitle: 'Work',
    });
    expect(tasks).toMatchObject([
      { externalKey: 'tm:file/master/1', plan: 'tm:file/master', planTitle: 'Work' },
    ]);
  });

  it.each([
    ['{"id":1}', 'task 1 has no title'],
    ['{"title":"A"}', 'this task has no id'],
    ['7', 'this task has no id'],
    ['{"id":1,"title":"A","status":"asleep"}', 'task 1 has the unknown status "asleep"'],
    ['{"id":1,"title":"A","priority":"urgent"}', 'task 1 has the unknown priority "urgent"'],
    ['{"id":1,"title":"A","dependencies":"2"}', 'task 1 has dependencies that are no list'],
    ['{"id":9,"title":"A"}', 'this is tm:master/9 again, as on line 2'],
  ])('tells the line of %s', (bad, says) => {
    const { errors } = read(`{"tasks": [\n{"id":9,"title":"ok"},\n${bad}\n]}`);
    expect(errors).toEqual([{ line: bad === '7' ? 1 : 3, message: expect.stringContaining(says) }]);
  });

  it('tells where it is no JSON', () => {
    const { errors } = read('{"tasks": [\n{"id":9,"title":"ok"},\n]}');
    expect(errors).toEqual([{ line: 3, message: expect.stringContaining('this is not JSON') }]);
  });
});

describe('chunks', () => {
  const chain = (count: number) =>
    Array.from({ length: count }, (_, n) =>
      fileTask({
        line: n + 1,
        externalKey: `${n}`,
        title: 'x',
        blockedBy: n + 1 < count ? [`${n + 1}`] : [],
      }),
    );

  it('come after what they name, however long the chain', () => {
    const { chunks, errors } = chunksOf(chain(20_000));
    expect(errors).toEqual([]);
    const seen = new Set<string>();
    for (const { tasks, assumedKeys } of chunks) {
      expect(tasks.length).toBeLessThanOrEqual(500);
      const own = new Set(tasks.map(({ externalKey }) => externalKey));
      const outside = tasks.flatMap(({ blockedBy }) => blockedBy).filter((key) => !own.has(key));
      expect(outside.every((key) => seen.has(key))).toBe(true);
      expect(assumedKeys).toEqual([...new Set(outside)]);
      for (const key of own) seen.add(key);
    }
    expect(seen.size).toBe(20_000);
  });

  it('keep a parent and its sub-tasks together, and what is between them', () => {
    const tasks = [
      ...chain(499),
      fileTask({ line: 600, externalKey: 'p', title: 'x', blockedBy: ['between'] }),
      fileTask({ line: 601, externalKey: 'c', title: 'x', parent: 'p' }),
      fileTask({ line: 602, externalKey: 'between', title: 'x', blockedBy: ['c'] }),
    ];
    const { chunks } = chunksOf(tasks);
    expect(chunks.map((chunk) => chunk.tasks.length)).toEqual([499, 3]);
    expect(chunks[1]?.tasks.map(({ externalKey }) => externalKey)).toEqual(['p', 'c', 'between']);
  });

  it('are small enough for a message', () => {
    const tasks = chain(100).map((task) => ({ ...task, blockedBy: [], body: 'x'.repeat(60_000) }));
    const { chunks } = chunksOf(tasks);
    expect(chunks.every((chunk) => chunk.tasks.length <= 14)).toBe(true);
    expect(chunks.flatMap((chunk) => chunk.tasks)).toHaveLength(100);
  });

  it('have no more dependencies than a call takes', () => {
    const blockers = Array.from({ length: 100 }, (_, n) =>
      fileTask({ line: n + 1, externalKey: `b${n}`, title: 'x' }),
    );
    const blockedBy = blockers.map(({ externalKey }) => externalKey);
    const waiting = Array.from({ length: 250 }, (_, n) =>
      fileTask({ line: n + 101, externalKey: `w${n}`, title: 'x', blockedBy }),
    );
    const { chunks, errors } = chunksOf([...blockers, ...waiting]);
    expect(errors).toEqual([]);
    expect(chunks.map(({ tasks }) => tasks.length)).toEqual([200, 100, 50]);
  });

  it('cannot hold a family that is larger than a call', () => {
    const children = Array.from({ length: 1_000 }, (_, n) =>
      fileTask({ line: n + 2, externalKey: `${n}`, title: 'x', parent: 'p' }),
    );
    const { chunks, errors } = chunksOf([fileTask({ line: 1, externalKey: 'p', title: 'x' }), ...children]);
    expect(chunks).toEqual([]);
    expect(errors).toEqual([{ line: 1, message: expect.stringContaining('are 1001 tasks') }]);
  });
});
