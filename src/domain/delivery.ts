import { DAY, HOUR, type Micros, SECOND } from './instant.js';

/** How many webhooks a project may have: every expiry is posted to each of them. */
export const MAX_WEBHOOKS = 20;

/** How long a receiver may take to answer. */
export const ANSWER_WITHIN: Micros = 10 * SECOND;

/** How long a replica has a delivery for itself: longer than an attempt, so that only a dead one is taken over. */
export const CLAIMED_FOR: Micros = 3 * ANSWER_WITHIN;

/** A delivery that has failed for so long is given up. */
export const GIVEN_UP_AFTER: Micros = DAY;

const FIRST_PAUSE = 5 * SECOND;
const LONGEST_PAUSE = HOUR;

/**
 * How long to wait after a failed attempt: 5 s, then twice as long each time up to an hour, give or take a fifth, so
 * that what failed together is not repeated together.
 *
 * @param attempts those made so far, from 1
 * @param chance from 0 to 1
 */
export function pauseAfter(attempts: number, chance: number): Micros {
  const pause = Math.min(FIRST_PAUSE * 2 ** (attempts - 1), LONGEST_PAUSE);
  return Math.round(pause * (0.8 + 0.4 * chance));
}
