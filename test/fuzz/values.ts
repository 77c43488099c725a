import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { ScalarType } from '@bufbuild/protobuf';
import fc from 'fast-check';

/** A value as it may stand in JSON, a lone surrogate or a number out of all ranges included. */
export type Json = unknown;

const nasty = fc.constantFrom(
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  'x\udfff',
  '\u0007\u001b[31m',
  'line\nline',
  '\u2028',
  '\u202e\u200f',
  'é\u0301',
  '\ufdfa'.repeat(256),
  '👩‍👩‍👧‍👦',
  "'; DROP TABLE task; --",
  '{}',
  '%00',
  '../../etc/passwd',
  '__proto__',
  'constructor',
  'NaN',
  '-1',
  '9223372036854775807',
  '9223372036854775808',
);

const long = fc
  .tuple(
    fc.constantFrom('a', '𝕏', '\u0000', '\ufdfa', ' '),
    fc.constantFrom(255, 256, 257, 500, 501, 2_000, 70_000),
  )
  .map(([character, length]) => character.repeat(length));

/** About as many different characters as an id may have, of three or four bytes: nothing can compress them. */
const dense = fc
  .tuple(fc.constantFrom(0x4e00, 0x20000), fc.array(fc.nat(20_000), { minLength: 250, maxLength: 256 }))
  .map(([script, points]) => String.fromCodePoint(...points.map((point) => script + point)));

/** Texts, good and bad. */
const text: fc.Arbitrary<Json> = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 300 }) },
  { weight: 3, arbitrary: nasty },
  { weight: 1, arbitrary: long },
  { weight: 1, arbitrary: dense },
);

const number: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom(0, 1, -1, 2 ** 31 - 1, -(2 ** 31), 2 ** 31, 1.5, 1e300, '7', 'x'),
  fc.integer(),
);

const int64: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom(
    '0',
    '1',
    '-1',
    '9223372036854775807',
    '-9223372036854775808',
    '9223372036854775808',
    1,
    'x',
    1.5,
  ),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
);

const duration: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom('0s', '1s', '0.999999999s', '1200s', '10800s', '-1s', '-0.000000001s', '0.000000001s'),
  fc.constantFrom(
    '315576000000s',
    '-315576000000s',
    '315576000001s',
    '9223372036854775807s',
    '1.5',
    'NaNs',
    'NaN',
    '1h',
  ),
  fc.constantFrom<Json>(60, null, { seconds: '1', nanos: -1 }),
  fc.integer({ min: 1, max: 1_000_000 }).map((seconds) => `${seconds}s`),
);

const instant: fc.Arbitrary<Json> = fc.constantFrom<Json>(
  '1970-01-01T00:00:00Z',
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999999999Z',
  '10000-01-01T00:00:00Z',
  '0000-12-31T23:59:59Z',
  '2026-02-30T00:00:00Z',
  'yesterday',
  0,
  null,
);

const mask: fc.Arbitrary<Json> = fc.constantFrom<Json>(
  'title',
  'title,body',
  '',
  'labels,status',
  'a.b.c',
  '_',
  'proof',
  7,
);

/** Of another type than the field's. */
const wrong: fc.Arbitrary<Json> = fc.constantFrom<Json>(null, true, 0, 'x', [], {}, [[]], [null], {
  a: { b: 1 },
});

/** JSON for a message of the API, by its descriptor: most fields fit, some do not. */
export function messageJson(message: DescMessage, depth = 0): fc.Arbitrary<Json> {
  const fields = Object.fromEntries(message.fields.map((field) => [field.jsonName, fieldJson(field, depth)]));
  const known = fc.record(fields, { requiredKeys: [] });
  const unknown = fc.dictionary(
    fc.constantFrom('nope', '__proto__', '0', ''),
    fc.jsonValue({ maxDepth: 2 }),
    {
      maxKeys: 2,
    },
  );
  return fc.oneof(
    { weight: 8, arbitrary: known },
    { weight: 1, arbitrary: fc.tuple(known, unknown).map(([a, b]) => ({ ...(a as object), ...b })) },
  );
}

/** More than any list may have, unless that would be more than any message may have. */
function tooMany(element: Json): Json[] {
  const length = JSON.stringify(element)?.length ?? 1;
  return Array(Math.min(1_100, Math.ceil(200_000 / length))).fill(element);
}

function fieldJson(field: DescField, depth: number): fc.Arbitrary<Json> {
  const one = valueJson(field, depth);
  const value =
    field.fieldKind === 'list'
      ? fc.oneof(
          { weight: 12, arbitrary: fc.array(one, { maxLength: 3 }) },
          { weight: 1, arbitrary: one.map(tooMany) },
        )
      : one;
  return fc.oneof({ weight: 14, arbitrary: value }, { weight: 1, arbitrary: wrong });
}

function valueJson(field: DescField, depth: number): fc.Arbitrary<Json> {
  if (field.enum) {
    const names = field.enum.values.map(({ name }) => name);
    return fc.constantFrom<Json>(...names, 0, 1, 2, 99, -1, 2 ** 31 - 1, 'NOPE', 1.5);
  }
  if (field.message) {
    switch (field.message.typeName) {
      case 'google.protobuf.Duration':
        return duration;
      case 'google.protobuf.Timestamp':
        return instant;
      case 'google.protobuf.FieldMask':
        return mask;
      default:
        return depth > 2 ? fc.constant({}) : messageJson(field.message, depth + 1);
    }
  }
  switch (field.scalar) {
    case ScalarType.BOOL:
      return fc.constantFrom<Json>(true, false, 'true', 1);
    case ScalarType.INT64:
      return int64;
    case ScalarType.INT32:
      return number;
    default:
      return text;
  }
}
