import { useSlowTick } from './ticker.js';
import { exact, relative } from './time.js';

/** How long ago, or in how long; the exact time on hover and for screen readers. */
export function RelativeTime({ atMs, nowMs }: { atMs: number | undefined; nowMs: number }) {
  useSlowTick();
  if (atMs === undefined) return null;
  return (
    <time dateTime={new Date(atMs).toISOString()} title={exact(atMs)}>
      {relative(atMs, nowMs)}
    </time>
  );
}
