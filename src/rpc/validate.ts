import type { DescField, DescMessage, Message } from '@bufbuild/protobuf';
import { type ReflectMessage, reflect } from '@bufbuild/protobuf/reflect';
import { describeSpan } from '../domain/instant.js';
import { canonicalPrincipal } from '../domain/principal.js';
import { microsOf } from './encode/time.js';
import { FIELD_RULES, type FieldRule, MAX_DURATION_SECONDS, MAX_ITEMS, REQUIRED } from './field-rules.js';

export interface Violation {
  /** As in the .proto, with dots for nesting and an index for repeated fields. */
  readonly field: string;
  readonly description: string;
}

type Check = (value: unknown) => string | undefined;

const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}]/u;
/** 0001-01-01 and 9999-12-31T23:59:59, the span of a Timestamp. */
const EARLIEST = -62_135_596_800n;
const LATEST = 253_402_300_799n;

/** The first field of a request that breaks its rule, in the order of the .proto. */
export function firstViolation(schema: DescMessage, message: Message): Violation | undefined {
  return violationIn(reflect(schema, message), '');
}

function violationIn(message: ReflectMessage, path: string): Violation | undefined {
  const required = REQUIRED[message.desc.name] ?? [];
  for (const field of message.fields) {
    const name = path + field.name;
    if (!message.isSet(field)) {
      if (required.includes(field.name)) return { field: name, description: 'is required' };
      continue;
    }
    const violation = fieldViolation(message, field, name, required.includes(field.name));
    if (violation) return violation;
  }
  return undefined;
}

function fieldViolation(
  message: ReflectMessage,
  field: DescField,
  name: string,
  required: boolean,
): Violation | undefined {
  const rule = FIELD_RULES[field.name];
  if (!rule) throw new Error(`the field ${field} has no rule in field-rules.ts`);
  if (field.fieldKind !== 'list') {
    return valueViolation(rule, field, message.get(field), name, required);
  }
  const list = message.get(field);
  const max = MAX_ITEMS[field.name];
  if (max !== undefined && list.size > max) {
    return { field: name, description: `has ${list.size} values; at most ${max} are allowed` };
  }
  let index = 0;
  for (const value of list) {
    const violation = valueViolation(rule, field, value, `${name}[${index++}]`, true);
    if (violation) return violation;
  }
  return undefined;
}

function valueViolation(
  rule: FieldRule,
  field: DescField,
  value: unknown,
  name: string,
  filled: boolean,
): Violation | undefined {
  if (rule.is === 'message') return violationIn(value as ReflectMessage, `${name}.`);
  const plain = field.message ? (value as ReflectMessage).message : value;
  const description = checkOf(rule, field)(plain) ?? (filled ? emptyText(rule, plain) : undefined);
  return description === undefined ? undefined : { field: name, description };
}

function emptyText(rule: FieldRule, value: unknown): string | undefined {
  const blank = typeof value === 'string' && value.trim() === '';
  return blank && rule.is !== 'any' ? 'must not be empty' : undefined;
}

function checkOf(rule: FieldRule, field: DescField): Check {
  switch (rule.is) {
    case 'id':
      return (value) => id(value as string, rule.max);
    case 'principal':
      // Some characters become several: a name must not outgrow its limit by that.
      return (value) => id(value as string, rule.max) ?? id(canonicalPrincipal(value as string), rule.max);
    case 'line':
      return (value) => printable(value as string, rule.max) ?? emptyText(rule, value);
    case 'text':
      return (value) => text(value as string, rule.bytes);
    case 'number':
      return (value) =>
        (value as number) < rule.min || (value as number) > rule.max
          ? `is ${value}; it must be between ${rule.min} and ${rule.max}`
          : undefined;
    case 'span':
      return (value) => span(value as { seconds: bigint; nanos: number }, rule);
    case 'instant':
      return (value) => instant(value as { seconds: bigint; nanos: number });
    case 'enum': {
      const known = field.enum?.value;
      return (value) => (known?.[value as number] ? undefined : `has the unknown value ${value}`);
    }
    case 'bool':
    case 'any':
    case 'message':
    case 'records':
      return () => undefined;
  }
}

function wellFormed(value: string): string | undefined {
  if (value.includes('\0')) return 'must not contain NUL';
  return value.isWellFormed() ? undefined : 'is not well-formed Unicode';
}

function printable(value: string, max: number): string | undefined {
  const length = [...value].length;
  if (length > max) return `has ${length} characters; at most ${max} are allowed`;
  const ill = wellFormed(value);
  if (ill) return ill;
  if (UNPRINTABLE.test(value)) return 'must be one line of printable characters';
  return value !== '' && value.trim() === '' ? 'must not be blank' : undefined;
}

/** Three of the longest ids fit into one key of an index, whatever the script they are written in. */
const ID_BYTES_PER_CHARACTER = 3;

function id(value: string, max: number): string | undefined {
  const wrong = printable(value, max);
  if (wrong) return wrong;
  const bytes = Buffer.byteLength(value);
  const allowed = max * ID_BYTES_PER_CHARACTER;
  return bytes > allowed ? `has ${bytes} bytes; at most ${allowed} are allowed` : undefined;
}

function text(value: string, max: number): string | undefined {
  const bytes = Buffer.byteLength(value);
  return bytes > max ? `has ${bytes} bytes; at most ${max} are allowed` : wellFormed(value);
}

function span(
  value: { seconds: bigint; nanos: number },
  { min, max, zero }: Extract<FieldRule, { is: 'span' }>,
): string | undefined {
  const { seconds, nanos } = value;
  const sameSign = seconds === 0n || nanos === 0 || seconds > 0n === nanos > 0;
  const inRange = seconds <= MAX_DURATION_SECONDS && seconds >= -MAX_DURATION_SECONDS;
  if (!sameSign || !inRange || Math.abs(nanos) > 999_999_999) return 'is not a valid duration';
  if (seconds < 0n || nanos < 0) return 'must not be negative';
  const micros = microsOf(value);
  if (micros === 0 && nanos === 0) return zero ? undefined : 'must not be zero';
  if (micros < min) return `must be at least ${describeSpan(min)}`;
  return micros > max ? `must be at most ${describeSpan(max)}` : undefined;
}

function instant({ seconds, nanos }: { seconds: bigint; nanos: number }): string | undefined {
  return seconds < EARLIEST || seconds > LATEST || nanos < 0 || nanos > 999_999_999
    ? 'is not a valid timestamp'
    : undefined;
}
