import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startBoard } from '../rpc/board.js';
import { LONG, Paused, writeNotes } from './paused.js';
import { endingOf, Watching } from './watching.js';

// The hub's own clock alone: what it says of the contract's spans holds for a server that nobody has configured.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }));
afterEach(() => void vi.useRealTimers());

it('tells a checkpoint every fifteen seconds', async () => {
  const board = await startBoard();
  const watching = await new Watching(board.viewer).begun();
  const checkpoints = () => watching.messages.filter((message) => message.case === 'checkpoint').length;
  await vi.advanceTimersByTimeAsync(14_999);
  await board.task();
  await watching.until(({ kinds }) => kinds.includes('TASK_READY'));
  expect(checkpoints()).toBe(0);
  await vi.advanceTimersByTimeAsync(1);
  await watching.until(() => checkpoints() === 1);
  await watching.stop();
});

it.each([
  { seconds: 29, ends: false },
  { seconds: 31.5, ends: true },
])('a reader that takes nothing for $seconds seconds is ended: $ends', async ({ seconds, ends }) => {
  const board = await startBoard();
  const slow = new Paused(board.service.client(board.viewer.token));
  const fast = await new Watching(board.viewer).begun();
  await slow.read();
  const last = await writeNotes(board, 30, LONG);
  await fast.until(({ positions }) => positions.at(-1) === last);
  await vi.advanceTimersByTimeAsync(seconds * 1_000);
  let ending: ReturnType<typeof endingOf> | undefined;
  while (!ending && slow.positions.at(-1) !== last) {
    await slow.read().catch((error) => (ending = endingOf(error)));
  }
  expect(ending?.code).toBe(ends ? 'ResourceExhausted' : undefined);
  await fast.stop();
});
