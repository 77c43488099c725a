import { expect, test } from 'vitest';
import { ANSWER_WITHIN, CLAIMED_FOR, pauseAfter } from '../../src/domain/delivery.js';
import { HOUR, SECOND } from '../../src/domain/instant.js';

test.each([
  [1, 0.5, 5 * SECOND],
  [1, 0, 4 * SECOND],
  [1, 1, 6 * SECOND],
  [2, 0.5, 10 * SECOND],
  [9, 0.5, 1_280 * SECOND],
  [10, 0.5, 2_560 * SECOND],
  [11, 0.5, HOUR],
  [11, 1, 1.2 * HOUR],
  [1_100, 0, 0.8 * HOUR],
])('after attempt %i with the chance %d the pause is %i µs', (attempts, chance, pause) => {
  expect(pauseAfter(attempts, chance)).toBe(pause);
});

test('a claim is longer than an attempt', () => {
  expect(CLAIMED_FOR).toBeGreaterThan(2 * ANSWER_WITHIN);
});
