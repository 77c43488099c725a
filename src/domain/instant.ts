/**
 * Microseconds since 1970, by the database's clock. A JavaScript number holds them exactly until the
 * year 2255, and, unlike a Date, loses nothing of what Postgres measures.
 */
export type Micros = number;

export const SECOND: Micros = 1_000_000;
export const MINUTE: Micros = 60 * SECOND;
export const HOUR: Micros = 60 * MINUTE;
export const DAY: Micros = 24 * HOUR;

/** A span of time for people: `1 h 30 min`, `45 s`, `0.5 s`. */
export function describeSpan(span: Micros): string {
  if (span < 10 * SECOND) return `${Math.max(0, Math.round(span / 100_000)) / 10} s`;
  const seconds = Math.round(span / SECOND);
  const parts: [number, string][] = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor((seconds % 3600) / 60), 'min'],
    [seconds % 60, 's'],
  ];
  return parts
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${amount} ${unit}`)
    .join(' ');
}
