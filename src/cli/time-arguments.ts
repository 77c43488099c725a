import {
  type Duration,
  durationFromMs,
  type Timestamp,
  timestampFromDate,
  timestampFromMs,
} from '@bufbuild/protobuf/wkt';
import { InvalidArgumentError } from 'commander';
import { milliseconds } from './arguments.js';

/** Reads {@link milliseconds}, as the API takes them. */
export function duration(text: string): Duration {
  return durationFromMs(milliseconds(text));
}

/** Reads a moment: `2026-03-01`, `2026-03-01T09:15:00Z`, or how long ago: `2h`. */
export function moment(text: string): Timestamp {
  if (/^\d{4}-\d{2}/.test(text)) {
    const date = new Date(text);
    if (!Number.isNaN(date.getTime())) return timestampFromDate(date);
  } else if (/^\d+(\.\d+)?(ms|s|m|h|d)$/.test(text)) {
    const at = Date.now() - milliseconds(text);
    if (at >= -62_135_596_800_000) return timestampFromMs(at);
  }
  throw new InvalidArgumentError('It must be a time such as 2026-03-01T09:15:00Z, or how long ago: 2h.');
}
