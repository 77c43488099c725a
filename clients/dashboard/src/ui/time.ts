import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';

const exactForm = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
const relativeForm = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'narrow' });

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
];

export const msOf = (at: Timestamp | undefined): number | undefined => at && timestampMs(at);

/** `3m ago`, `in 2h`, `now`. */
export function relative(atMs: number, nowMs: number): string {
  const distance = atMs - nowMs;
  const [unit, size] = UNITS.find(([, size]) => Math.abs(distance) >= size) ?? ['second', 1_000];
  const amount = Math.trunc(distance / size);
  return amount === 0 ? 'now' : relativeForm.format(amount, unit);
}

/** Date and time with seconds and zone. */
export const exact = (atMs: number): string => exactForm.format(atMs);

/** `1:02:03`, `14:59`, `0:07`: whole seconds that are left, counted up so that 0:00 means over. */
export function countdown(ms: number): string {
  const whole = Math.max(0, Math.ceil(ms / 1_000));
  const [hours, minutes, seconds] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60, whole % 60];
  const padded = String(seconds).padStart(2, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${padded}` : `${minutes}:${padded}`;
}

/** `850 ms`, `12 s`, `5 min`, `2.5 h`. */
export function span(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 120_000) return `${Math.round(ms / 1_000)} s`;
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`;
  return `${Math.round(ms / 360_000) / 10} h`;
}
