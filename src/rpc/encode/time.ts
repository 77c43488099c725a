import { create } from '@bufbuild/protobuf';
import { type Duration, DurationSchema, type Timestamp, TimestampSchema } from '@bufbuild/protobuf/wkt';
import { type Micros, SECOND } from '../../domain/instant.js';

const MICRO_NANOS = 1_000;

function parts(micros: Micros): { seconds: bigint; nanos: number } {
  const seconds = Math.floor(micros / SECOND);
  return { seconds: BigInt(seconds), nanos: (micros - seconds * SECOND) * MICRO_NANOS };
}

export function timestamp(instant: Micros): Timestamp {
  return create(TimestampSchema, parts(instant));
}

/** Of spans that are not negative. */
export function duration(span: Micros): Duration {
  return create(DurationSchema, parts(Math.max(0, span)));
}

/** Of values that the field rules have let through. */
export function microsOf({ seconds, nanos }: { seconds: bigint; nanos: number }): Micros {
  return Number(seconds) * SECOND + Math.trunc(nanos / MICRO_NANOS);
}
