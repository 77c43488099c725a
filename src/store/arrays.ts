import type { Sql } from './database.js';

/**
 * Arrays as parameters. They travel as JSON: the driver knows Postgres's own array types only after its first
 * connection has asked for them, and sends the first statement of all wrongly.
 */
export function textArray(sql: Sql, values: readonly string[]) {
  return sql`ARRAY(SELECT jsonb_array_elements_text(${JSON.stringify(values)}::text::jsonb))`;
}

export function intArray(sql: Sql, values: readonly number[]) {
  return sql`ARRAY(SELECT jsonb_array_elements_text(${JSON.stringify(values)}::text::jsonb)::integer)`;
}
