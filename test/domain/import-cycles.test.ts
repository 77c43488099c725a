import { expect, test } from 'vitest';
import { faultsIn } from '../../src/domain/import-faults.js';
import type { ListedTask, Surroundings } from '../../src/domain/import-list.js';

const NOTHING: Surroundings = { present: new Map(), assumed: new Set() };

const listed = (key: string, blockedBy: readonly string[]): ListedTask => ({
  key,
  title: key,
  body: '',
  status: 'OPEN',
  priority: 0,
  labels: [],
  blockedBy,
  parent: undefined,
  plan: undefined,
  planTitle: '',
  result: '',
  assignee: '',
  line: 0,
  flaw: undefined,
});

test('a list that is one knot of cycles is judged at once, and all that is left of it has none', () => {
  const knot = Array.from({ length: 600 }, (_, i) =>
    listed(
      `k${i}`,
      Array.from({ length: 200 }, (_, k) => `k${(i + k + 1) % 600}`),
    ),
  );
  const faults = faultsIn(knot, NOTHING, new Map());
  const left = knot.filter((_, record) => faults[record] === undefined);
  expect(faultsIn(left, NOTHING, new Map()).filter((fault) => fault?.includes('cycle'))).toEqual([]);
  expect(faults.some((fault) => fault?.includes('cycle'))).toBe(true);
});

test('each of two cycles is told, and what is in none is not', () => {
  const list = [
    listed('a', ['b']),
    listed('b', ['a']),
    listed('c', ['d']),
    listed('d', ['c']),
    listed('e', []),
  ];
  const faults = faultsIn(list, NOTHING, new Map());
  expect(faults[0]).toContain('cycle of 2');
  expect(faults[2]).toContain('cycle of 2');
  expect(faults[4]).toBeUndefined();
});
