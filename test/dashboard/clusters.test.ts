import { expect, it } from 'vitest';
import { clustersOf } from '../../clients/dashboard/src/timeline/clusters.js';
import type { Mark } from '../../clients/dashboard/src/timeline/lanes.js';
import { eventMaker } from './events.js';

const event = eventMaker();
const mark = (atMs: number, kind: Mark['kind'] = 'note'): Mark => ({
  key: `${kind} ${atMs}`,
  kind,
  lane: 'ada\nada-run',
  against: undefined,
  taskId: 't',
  atMs,
  event: event('NOTE_ADDED', atMs),
});
const seen = (marks: readonly Mark[], msPerPx: number) =>
  clustersOf(marks, msPerPx).map(({ key, newest, count, fromMs }) => [key, newest.atMs, count, fromMs]);

it('draws marks of one kind that are too close to tell apart as one, where the newest is', () => {
  const marks = [mark(0), mark(3), mark(5, 'refused'), mark(7), mark(400)];
  expect(seen(marks, 1)).toEqual([
    ['note 0', 7, 3, 0],
    ['refused 5', 5, 1, 5],
    ['note 400', 400, 1, 400],
  ]);
  // Closer by, each is seen.
  expect(seen(marks, 0.1)).toHaveLength(5);
});

it('draws no more than one of a kind every few pixels, however many there are, and counts them all', () => {
  const marks = Array.from({ length: 20_000 }, (_, n) => mark(n));
  const clusters = clustersOf(marks, 20);
  expect(clusters.length).toBeLessThanOrEqual(20_000 / 20 / 6 + 1);
  expect(clusters.reduce((sum, { count }) => sum + count, 0)).toBe(20_000);
});

it('moves none from one to another while the view moves or grows a little, nor when more join', () => {
  const marks = Array.from({ length: 500 }, (_, n) => mark(1_000_000 + n * 7));
  const before = seen(marks, 20);
  expect(seen(marks, 21)).toEqual(before);
  const after = seen([...marks, mark(1_000_000 + 500 * 7)], 20);
  expect(after.map(([key]) => key).slice(0, before.length)).toEqual(before.map(([key]) => key));
});
