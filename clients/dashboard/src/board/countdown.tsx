import type { HeldLease } from '../live/board.js';
import { usePlace } from '../live/use-live.js';
import { useTick } from '../ui/ticker.js';
import { countdown, exact } from '../ui/time.js';

const RADIUS = 7;
const LENGTH = 2 * Math.PI * RADIUS;

/** How near a lease's end is. Who renews at a third of the TTL never comes below the half. */
function urgency(leftMs: number, ttlMs: number): 'calm' | 'soon' | 'last' | 'over' {
  if (leftMs <= 0) return 'over';
  const share = ttlMs > 0 ? leftMs / ttlMs : 1;
  if (share < 0.15) return 'last';
  return share < 0.4 ? 'soon' : 'calm';
}

/** A lease's time left: a ring that empties and turns colour as the end comes near. */
export function Countdown({ lease }: { lease: HeldLease }) {
  const { live } = usePlace();
  useTick();
  const leftMs = lease.expiresAtMs - live.clock.now();
  const share = Math.min(1, Math.max(0, lease.ttlMs > 0 ? leftMs / lease.ttlMs : 0));
  const near = urgency(leftMs, lease.ttlMs);
  return (
    <span className={`countdown ${near}`} title={`Ends ${exact(lease.expiresAtMs)} unless it is renewed`}>
      <svg viewBox="0 0 18 18" width="18" height="18" aria-hidden="true">
        <circle className="ring" cx="9" cy="9" r={RADIUS} />
        <circle className="left" cx="9" cy="9" r={RADIUS} strokeDasharray={`${LENGTH * share} ${LENGTH}`} />
      </svg>
      <span className="visually-hidden">lease ends in </span>
      <span className="digits">{near === 'over' ? 'lapsed' : countdown(leftMs)}</span>
    </span>
  );
}
