import type { Mark } from './lanes.js';

/** Marks of one kind in one lane that are too close to tell apart: drawn as one, where the newest is. */
export interface Cluster {
  /** Stays the same while newer ones join. */
  readonly key: string;
  readonly newest: Mark;
  readonly count: number;
  /** When the oldest happened, in server milliseconds. */
  readonly fromMs: number;
}

/** Marks are at least this wide, in pixels. */
const CLOSE_PX = 6;

/**
 * Puts the marks of a lane, oldest first, together by stretches of time of 6 to 12 pixels. The stretches lie fixed in
 * time, and grow by doubling: nothing jumps from one to another while the view moves.
 *
 * @returns for each kind one cluster a stretch at most, however many marks there are
 */
export function clustersOf(marks: readonly Mark[], msPerPx: number): Cluster[] {
  const stretchMs = 2 ** Math.ceil(Math.log2(CLOSE_PX * msPerPx));
  const clusters = new Map<string, Cluster>();
  for (const mark of marks) {
    const place = `${mark.kind} ${Math.floor(mark.atMs / stretchMs)}`;
    const { key, count, fromMs } = clusters.get(place) ?? { key: mark.key, count: 0, fromMs: mark.atMs };
    clusters.set(place, { key, newest: mark, count: count + 1, fromMs });
  }
  return [...clusters.values()];
}
