import { create } from '@bufbuild/protobuf';
import type { Holdfast } from '@holdfast/client';
import { TaskSchema } from '@holdfast/proto/task';
import { expect, it } from 'vitest';
import { Board } from '../../clients/dashboard/src/live/board.js';
import { TaskReader } from '../../clients/dashboard/src/live/task-reader.js';

it('takes no answer that is older than an event, however many tasks were touched since', () => {
  const board = new Board();
  // Nothing is read: it only counts what is touched.
  const never = { tasks: { getTask: () => new Promise(() => {}) } } as unknown as Holdfast;
  const reader = new TaskReader(
    never,
    '',
    board,
    () => {},
    async () => {},
  );
  const before = reader.mark();
  board.tasks.set('t', create(TaskSchema, { id: 't', title: 'New' }));
  reader.touch('t');
  for (let other = 0; other < 20_000; other++) reader.touch(`other-${other}`);
  const old = create(TaskSchema, { id: 't', title: 'Old' });
  reader.take(old, before);
  expect(board.tasks.get('t')?.title).toBe('New');
  reader.take(create(TaskSchema, { id: 't', title: 'Newest' }), reader.mark());
  expect(board.tasks.get('t')?.title).toBe('Newest');
  reader.stop();
});
