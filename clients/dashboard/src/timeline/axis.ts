const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const STEPS = [
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 7, 14, 28].map((n) => n * DAY),
];

/** The narrowest and the widest view, in ms. */
export const SHORTEST = 5 * SECOND;
export const LONGEST = 60 * DAY;

/** A mark on the axis. */
export interface Tick {
  readonly atMs: number;
  readonly label: string;
}

/** Marks at round local times, at most one per `everyPx` pixels. */
export function ticks(fromMs: number, toMs: number, widthPx: number, everyPx = 96): Tick[] {
  const least = ((toMs - fromMs) / Math.max(1, widthPx)) * everyPx;
  const step = STEPS.find((each) => each >= least) ?? 28 * DAY;
  const zoneMs = new Date(fromMs).getTimezoneOffset() * MINUTE;
  const first = Math.ceil((fromMs - zoneMs) / step) * step + zoneMs;
  const count = Math.max(0, Math.floor((toMs - first) / step) + 1);
  return Array.from({ length: count }, (_, at) => {
    const atMs = first + at * step;
    return { atMs, label: label(atMs, step) };
  });
}

function label(atMs: number, step: number): string {
  const date = new Date(atMs);
  if (step >= DAY) return date.toLocaleDateString(undefined, { month: 'short', day: 'numeric' });
  const seconds = step < MINUTE ? ({ second: '2-digit' } as const) : {};
  return date.toLocaleTimeString(undefined, {
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    ...seconds,
  });
}
