import { type Duration, durationMs, type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';

/** To the second: fractions only cost tokens. */
export function instant(timestamp: Timestamp | undefined): string | undefined {
  return (
    timestamp &&
    timestampDate(timestamp)
      .toISOString()
      .replace(/\.\d+Z$/, 'Z')
  );
}

/** In whole seconds, rounded up: asking again earlier is too early. */
export function seconds(duration: Duration | undefined): number | undefined {
  return duration && Math.ceil(durationMs(duration) / 1_000);
}
