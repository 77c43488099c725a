import { type DescField, ScalarType } from '@bufbuild/protobuf';
import { describe, expect, it, test } from 'vitest';
import { ACCESS } from '../../src/rpc/access.js';
import { FIELD_RULES, type FieldRule, MAX_ITEMS, REQUIRED } from '../../src/rpc/field-rules.js';
import { METHODS, messagesIn, NAMES } from './methods.js';
import { REQUESTS } from './requests.js';

const inputs = new Set([...METHODS.values()].flatMap(({ input }) => [...messagesIn(input)]));
const fields = [...inputs].flatMap((message) => message.fields);

test('every RPC says who may call it, and nothing else is in the table', () => {
  expect(Object.keys(ACCESS).sort()).toEqual([...NAMES].sort());
});

test('every RPC has a request in these tests', () => {
  expect(Object.keys(REQUESTS).sort()).toEqual([...NAMES].sort());
});

test('whoever must name an execution can', () => {
  for (const [rpc, { agentsNameExecution }] of Object.entries(ACCESS)) {
    if (!agentsNameExecution) continue;
    expect([rpc, METHODS.get(rpc)?.input.fields.map(({ name }) => name)]).toEqual([
      rpc,
      expect.arrayContaining(['execution_id']),
    ]);
  }
});

describe('the rules of fields', () => {
  const shapes: Readonly<Record<FieldRule['is'], (field: DescField) => boolean>> = {
    id: isText,
    principal: isText,
    line: isText,
    text: isText,
    number: (field) => field.scalar === ScalarType.INT32,
    span: (field) => field.message?.typeName === 'google.protobuf.Duration',
    instant: (field) => field.message?.typeName === 'google.protobuf.Timestamp',
    enum: (field) => field.enum !== undefined,
    bool: (field) => field.scalar === ScalarType.BOOL,
    any: (field) => ['update_mask', 'fencing_token'].includes(field.name),
    message: (field) => field.message?.typeName.startsWith('holdfast.') === true,
    records: (field) =>
      field.fieldKind === 'list' && field.message?.typeName.startsWith('holdfast.') === true,
  };

  test.each(fields.map((field) => [field.toString(), field] as const))('%s has one that fits', (_, field) => {
    const rule = FIELD_RULES[field.name];
    expect(rule && shapes[rule.is](field)).toBe(true);
  });

  test.each(
    fields.filter((field) => field.fieldKind === 'list').map((field) => [field.toString(), field] as const),
  )('%s has a longest length', (_, field) => {
    expect(MAX_ITEMS[field.name]).toBeGreaterThan(0);
  });

  it('are of fields that exist', () => {
    const names = new Set(fields.map(({ name }) => name));
    expect(
      [...Object.keys(FIELD_RULES), ...Object.keys(MAX_ITEMS)].filter((name) => !names.has(name)),
    ).toEqual([]);
  });

  it('require fields that exist', () => {
    const missing = Object.entries(REQUIRED).flatMap(([message, required]) => {
      const found = [...inputs].find(({ name }) => name === message);
      return required.filter((name) => !found?.fields.some((field) => field.name === name));
    });
    expect(missing).toEqual([]);
  });
});

function isText(field: DescField): boolean {
  return (
    (field.fieldKind === 'list' ? field.listKind === 'scalar' && field.scalar : field.scalar) ===
    ScalarType.STRING
  );
}
