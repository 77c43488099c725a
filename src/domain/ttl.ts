import { type Micros, SECOND } from './instant.js';
import type { Settings } from './settings.js';

/** The shortest time to live: below it, renewing costs more than the work. */
export const MIN_TTL: Micros = SECOND;

/**
 * The time to live that is applied. Absent or zero means the default; what is above the project's
 * maximum becomes the maximum. Values below {@link MIN_TTL} never get here: they are refused at decoding.
 */
export function applicableTtl(requested: Micros | undefined, fallback: Micros, settings: Settings): Micros {
  return Math.min(requested || fallback, settings.maxTtl);
}

/** The instant that no renewal passes, or undefined without an age cap. */
export function ageLimit(agedFrom: Micros, settings: Settings): Micros | undefined {
  return settings.maxAge === 0 ? undefined : agedFrom + settings.maxAge;
}
