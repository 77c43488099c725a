import { expect, test } from 'vitest';
import { wouldCycle } from '../../src/domain/dependencies.js';
import { satisfies } from '../../src/domain/neighbours.js';
import type { TaskStatus } from '../../src/domain/task-state.js';

test.each<[TaskStatus, boolean, boolean]>([
  ['OPEN', false, false],
  ['IN_PROGRESS', true, false],
  ['DONE', false, true],
  ['DONE', true, true],
  ['DROPPED', false, false],
  ['DROPPED', true, true],
  ['QUARANTINED', true, false],
])('%s over an edge with accept_dropped %s satisfies: %s', (status, acceptDropped, expected) => {
  expect(satisfies(status, acceptDropped)).toBe(expected);
});

test('a refused cycle names the way around, a long one only its ends', () => {
  expect(wouldCycle(['a', 'b']).kind).toBe('FAILED_PRECONDITION');
  expect(wouldCycle(['a', 'b'])).toHaveProperty(
    'message',
    expect.stringContaining('a waits for b waits for a.'),
  );
  const long = wouldCycle(Array.from({ length: 20_000 }, (_, i) => `t${i}`));
  expect(long).toHaveProperty(
    'message',
    expect.stringMatching(/a cycle of 20000 tasks: t0 .* … .* t19999 waits for t0\.$/),
  );
  expect('message' in long && long.message.length).toBeLessThan(1_000);
});
