import { create } from '@bufbuild/protobuf';
import { LeaseSchema } from '@holdfast/proto/lease';
import { type Task, TaskSchema, TaskStatus } from '@holdfast/proto/task';
import { beforeEach, describe, expect, it } from 'vitest';
import { columnOf, columnsOf, NO_FILTER, planProgress } from '../../clients/dashboard/src/board/columns.js';
import { Board } from '../../clients/dashboard/src/live/board.js';
import { ended, eventMaker, granted, holder } from './events.js';

let board: Board;
let event: ReturnType<typeof eventMaker>;
beforeEach(() => {
  board = new Board();
  event = eventMaker();
  board.tasks.set('t', create(TaskSchema, { id: 't', title: 'T', status: TaskStatus.OPEN }));
});

const column = (id = 't') => columnOf(board.tasks.get(id) as Task, board);

describe('the board follows events', () => {
  it('through a lease that runs out, and one that completes', () => {
    board.apply(event('LEASE_ACQUIRED', 0, granted('ada', 0)));
    expect([column(), board.leases.get('t')?.holder?.principal]).toEqual(['progress', 'ada']);
    board.apply(event('LEASE_EXPIRED', 1_000, ended('ada')));
    expect(column()).toBe('ready');
    board.apply(event('LEASE_TAKEN_OVER', 1_100, { ...granted('ben', 1_100), fencingToken: 2n }));
    board.apply(
      event('TASK_COMPLETED', 1_200, {
        actor: 'ben',
        payload: { case: 'taskCompleted', value: { result: 'it works' } },
      }),
    );
    board.apply(event('LEASE_RELEASED', 1_200, { ...ended('ben'), fencingToken: 2n }));
    expect([column(), board.tasks.get('t')?.result, board.tasks.get('t')?.closedBy]).toEqual([
      'done',
      'it works',
      'ben',
    ]);
  });

  it('and is not set back by one that tells again what a snapshot showed', () => {
    const renewed = create(LeaseSchema, {
      taskId: 't',
      holder: holder('ada'),
      fencingToken: 1n,
      expiresAt: { seconds: 9n },
    });
    board.setLeases([renewed]);
    board.apply(event('LEASE_ACQUIRED', 0, granted('ada', 0)));
    expect(board.leases.get('t')?.expiresAtMs).toBe(9_000);
    // Nor is a newer lease ended by the end of an older one.
    board.apply(event('LEASE_EXPIRED', 0, { ...ended('old'), fencingToken: 0n }));
    expect(column()).toBe('progress');
  });

  it('and learns new deadlines of the leases it knows, never an earlier one', () => {
    board.apply(event('LEASE_ACQUIRED', 0, granted('ada', 0)));
    const until = (seconds: bigint, fencingToken = 1n) =>
      create(LeaseSchema, { taskId: 't', holder: holder('ada'), fencingToken, expiresAt: { seconds } });
    board.renew([until(900n)]);
    expect(board.leases.get('t')?.expiresAtMs).toBe(900_000);
    board.renew([until(800n), until(1_000n, 2n)]);
    expect(board.leases.get('t')?.expiresAtMs).toBe(900_000);
  });

  it('and says which tasks it cannot know all of', () => {
    const reopened = event('TASK_REOPENED', 0, {
      payload: { case: 'taskReopened', value: { blockedAgain: ['u'] } },
    });
    expect(board.apply(reopened)).toEqual(['t', 'u']);
    const child = event('TASK_CREATED', 0, {
      taskId: 'c',
      payload: { case: 'taskCreated', value: { title: 'C', status: TaskStatus.OPEN, parentId: 't' } },
    });
    expect(board.apply(child)).toEqual(['c', 't']);
    expect(column('c')).toBe('ready');
  });
});

describe('the columns', () => {
  it('are in the order of the queue, and pass what the filter asks for', () => {
    const add = (id: string, about: object) =>
      board.tasks.set(id, create(TaskSchema, { id, title: id, status: TaskStatus.OPEN, ...about }));
    add('low', { priority: 1 });
    add('high', { priority: 5, labels: ['docs'] });
    add('waits', { unmetDependencies: 1, labels: ['docs'] });
    add('gone', { status: TaskStatus.DROPPED, planId: 'p' });
    const ids = (filter = {}) =>
      Object.values(columnsOf(board, { ...NO_FILTER, ...filter })).map((tasks) => tasks.map(({ id }) => id));
    expect(ids()).toEqual([['high', 'low', 't'], [], ['waits'], [], ['gone']]);
    expect(ids({ label: 'docs' })).toEqual([['high'], [], ['waits'], [], []]);
    expect(ids({ text: 'HIG' })).toEqual([['high'], [], [], [], []]);
    // A dropped step counts nowhere.
    expect(planProgress(board)).toEqual([]);
  });
});
