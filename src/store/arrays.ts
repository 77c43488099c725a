import type { Sql } from './database.js';

/**
 * Arrays as parameters. They travel as JSON: the driver does not know Postgres's array types, see database.ts.
 */
export function textArray(sql: Sql, values: readonly string[]) {
  return sql`ARRAY(SELECT jsonb_array_elements_text(${JSON.stringify(values)}::text::jsonb))`;
}

export function intArray(sql: Sql, values: readonly number[]) {
  return sql`ARRAY(SELECT jsonb_array_elements_text(${JSON.stringify(values)}::text::jsonb)::integer)`;
}

/** Of bytes, each written in hexadecimal. */
export function bytesArray(sql: Sql, hex: readonly string[]) {
  return sql`ARRAY(SELECT decode(h, 'hex') FROM jsonb_array_elements_text(${JSON.stringify(hex)}::text::jsonb) h)`;
}
