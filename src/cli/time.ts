import { type Duration, durationMs, type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';

/** A moment for people, to the second: `2026-03-01 09:15:00Z`. Empty without one. */
export function moment(at: Timestamp | undefined): string {
  return at
    ? timestampDate(at)
        .toISOString()
        .replace('T', ' ')
        .replace(/\.\d+Z$/, 'Z')
    : '';
}

const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
] as const;

/** A duration for people, in its two largest units: `14m 59s`. Empty without one. */
export function span(duration: Duration | undefined): string {
  if (!duration) return '';
  let seconds = durationMs(duration) / 1_000;
  if (seconds < 1) return `${Math.round(seconds * 1_000)}ms`;
  seconds = Math.floor(seconds);
  const parts: string[] = [];
  for (const [unit, size] of units) {
    if (seconds >= size) parts.push(`${Math.floor(seconds / size)}${unit}`);
    seconds %= size;
  }
  return parts.slice(0, 2).join(' ');
}
