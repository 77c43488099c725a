import { usePlace } from '../live/use-live.js';
import { useSlowTick } from './ticker.js';
import { exact, relative } from './time.js';

/** How long ago by the server's clock, or in how long; the exact time on hover and for screen readers. */
export function RelativeTime({ atMs }: { atMs: number | undefined }) {
  const { live } = usePlace();
  useSlowTick();
  if (atMs === undefined) return null;
  return (
    <time dateTime={new Date(atMs).toISOString()} title={exact(atMs)}>
      {relative(atMs, live.clock.now())}
    </time>
  );
}
