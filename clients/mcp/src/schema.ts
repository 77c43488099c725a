import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import { z } from 'zod';

/** The part of JSON Schema that our tools use. */
interface JsonSchema {
  type?: string;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
}

/**
 * A schema as MCP clients are told it. It lets every value through: arguments are judged by {@link readArguments},
 * whose errors say what to send instead, and our own answers need no judging.
 */
export function advertised(schema: z.ZodType): StandardSchemaWithJSON {
  const json = (io: 'input' | 'output') => () => withoutNoise(z.toJSONSchema(schema, { io })) as never;
  return {
    '~standard': {
      version: 1,
      vendor: 'holdfast',
      validate: (value) => ({ value }),
      jsonSchema: { input: json('input'), output: json('output') },
    },
  };
}

/** Every word of a schema costs each agent tokens, in every session. */
function withoutNoise(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNoise);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, part]) => !isNoise(key, part))
      .map(([key, part]) => [key, withoutNoise(part)]),
  );
}

function isNoise(key: string, value: unknown): boolean {
  if (key === 'minimum' || key === 'maximum') return Math.abs(value as number) === Number.MAX_SAFE_INTEGER;
  if (key === 'additionalProperties') return JSON.stringify(value) === '{}';
  return ['$schema', 'minLength', 'maxLength', 'minItems', 'maxItems'].includes(key);
}

/** The arguments of a tool call are wrong. The message says what to send instead. */
export class BadArguments extends Error {
  override readonly name = 'BadArguments';
}

/** Checks a call's arguments. Throws {@link BadArguments} that names each fault and all arguments there are. */
export function readArguments<Schema extends z.ZodObject>(
  tool: string,
  schema: Schema,
  given: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(given ?? {});
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) =>
    path.length > 0 ? `${path.join('.')}: ${message}` : message,
  );
  throw new BadArguments(
    `Correct the arguments and call ${tool} again. ${faults.join('. ')}. It takes ${takes(schema)}.`,
  );
}

function takes(schema: z.ZodObject): string {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input' }) as JsonSchema;
  const told = Object.entries(properties).map(([name, property]) => {
    const need = required.includes(name) ? ', required' : '';
    return `${name} (${kindOf(property)}${need})`;
  });
  return told.length > 0 ? told.join(', ') : 'no arguments';
}

function kindOf(property: JsonSchema): string {
  if (property.enum) return property.enum.map((value) => JSON.stringify(value)).join(' or ');
  if (property.type === 'array' && property.items) {
    const { properties } = property.items;
    return properties
      ? `list of {${Object.keys(properties).join(', ')}}`
      : `list of ${kindOf(property.items)}s`;
  }
  const { minimum = -Number.MAX_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER } = property;
  const bounded = Math.abs(minimum) < Number.MAX_SAFE_INTEGER && Math.abs(maximum) < Number.MAX_SAFE_INTEGER;
  return `${property.type ?? 'any'}${bounded ? ` ${minimum} to ${maximum}` : ''}`;
}
