import type { SceneResult } from './performance.js';
import type { Place } from './place.js';
import type { Entry } from './timeline.js';

/** What came of the demo. */
export interface Finale {
  readonly place: Place;
  readonly planId: string;
  readonly scenes: readonly SceneResult[];
  readonly events: readonly Entry[];
  /** Of the whole demo, the start of its server included. */
  readonly durationMs: number;
}
