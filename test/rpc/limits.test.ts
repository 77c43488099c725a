import { beforeAll, describe, expect, it } from 'vitest';
import { type Board, startBoard } from './board.js';
import { refused } from './refused.js';

// The figures of the contract, each with the most that is taken and the least that is not.
let board: Board;
let taskId: string;
beforeAll(async () => {
  board = await startBoard();
  taskId = (await board.task()).id;
});

const labels = (count: number, length: number) =>
  Array.from({ length: count }, (_, n) => String(n).padStart(length, 'l'));
const seconds = (count: number) => ({ seconds: BigInt(count), nanos: 0 });
const many = (count: number) => Array.from({ length: count }, (_, n) => `none-${n}`);

/** What a call may name, what it may not, and the field that the refusal names. */
interface Limit {
  readonly field: string;
  readonly most: number;
  readonly call: (amount: number) => Promise<unknown>;
  /** How a call that names the most ends, when not well: it gets past its form. */
  readonly ends?: string;
}

const LIMITS: Record<string, Limit> = {
  'a title has 500 characters': {
    field: 'title',
    most: 500,
    call: (length) => board.member.tasks.createTask({ title: 't'.repeat(length) }),
  },
  'a text has 64 KiB': {
    field: 'body',
    most: 64 * 1024,
    call: (length) => board.member.tasks.createTask({ title: 't', body: 'b'.repeat(length) }),
  },
  'a result has 64 KiB': {
    field: 'result',
    most: 64 * 1024,
    call: async (length) => {
      const { id } = await board.task();
      return board.member.tasks.completeTask({ taskId: id, result: 'r'.repeat(length) });
    },
  },
  'a note has 64 KiB': {
    field: 'text',
    most: 64 * 1024,
    call: (length) => board.member.tasks.addNote({ taskId, text: 'n'.repeat(length) }),
  },
  'a task has 64 labels': {
    field: 'labels',
    most: 64,
    call: (count) => board.member.tasks.createTask({ title: 't', labels: labels(count, 4) }),
  },
  'a label has 64 characters': {
    field: 'labels[0]',
    most: 64,
    call: (length) => board.member.tasks.createTask({ title: 't', labels: labels(1, length) }),
  },
  'an id has 256 characters': {
    field: 'execution_id',
    most: 256,
    call: (length) => board.agent.leases.acquireNextTask({ executionId: 'e'.repeat(length) }),
  },
  'a task is created behind 1,000 others': {
    field: 'blocked_by',
    most: 1_000,
    call: (count) => board.member.tasks.createTask({ title: 't', blockedBy: many(count) }),
    ends: 'NotFound',
  },
  'a page has 1,000 entries': {
    field: 'page_size',
    most: 1_000,
    call: (count) => board.viewer.tasks.listTasks({ pageSize: count }),
  },
};

describe.each(Object.entries(LIMITS))('%s', (_, { field, most, call, ends }) => {
  it('and no more', async () => {
    expect(await refused(call(most + 1))).toMatchObject({ code: 'InvalidArgument', field });
  });

  it('and no fewer', async () => {
    const ended = await call(most).then(
      () => undefined,
      (error) => refused(Promise.reject(error)),
    );
    expect((await ended)?.code).toBe(ends);
  });
});

describe('a wait has 50 seconds', () => {
  const next = (span: number) =>
    board.agent.leases.acquireNextTask({ executionId: 'waits', wait: seconds(span) });

  it('and no more', async () => {
    expect(await refused(next(51))).toMatchObject({ code: 'InvalidArgument', field: 'wait' });
  });

  it('and no fewer', async () => {
    await board.task();
    expect((await next(50)).outcome.case).toBe('grant');
  });
});
