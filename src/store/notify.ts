import type { Store } from './store.js';

/** Sends payloads, each below 8,000 bytes, to all who listen to a channel. In no other transaction than its own. */
export async function notify(
  { database: { sql } }: Store,
  channel: string,
  payloads: readonly string[],
): Promise<void> {
  await sql`
    SELECT pg_notify(${channel}, payload)
    FROM jsonb_array_elements_text(${JSON.stringify(payloads)}::text::jsonb) AS payload`;
}
