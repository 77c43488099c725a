import type { Sql } from './database.js';
import { micros } from './task-row.js';

/** Names one attempt that a caller may repeat: who asked which RPC for what. */
export interface RequestKey {
  readonly principal: string;
  readonly rpc: string;
  readonly requestId: string;
  /** SHA-256 of the request, hex: the same id with another body is an error. */
  readonly bodyHash: string;
}

/** What was applied under a request_id. */
export interface RememberedRequest {
  readonly ref: string;
  readonly sameBody: boolean;
}

/** How long a request_id is remembered, in microseconds: 24 h. */
const KEPT_FOR = 24 * 3600 * 1_000_000;

/** The columns of a remembered request, for a statement that takes them as JSON. */
export function requestRow(request: RequestKey & { readonly ref: string }) {
  return {
    principal: request.principal,
    rpc: request.rpc,
    request_id: request.requestId,
    body_hash: request.bodyHash,
    ref: request.ref,
  };
}

/**
 * The part of a creating statement that remembers its request, if it has one. A plain insert: a concurrent duplicate
 * fails here and takes the whole statement with it.
 *
 * @param made the part of the statement that has a row if something was made, and in `at` when
 */
export function remembering(
  sql: Sql,
  project: string | null,
  request: (RequestKey & { readonly ref: string }) | undefined,
  { made, at }: { readonly made: string; readonly at: string },
) {
  return sql`
    INSERT INTO request (project, principal, rpc, request_id, body_hash, ref, created_at)
    SELECT ${project}, r.principal, r.rpc, r.request_id, decode(r.body_hash, 'hex'), r.ref, ${sql.unsafe(`${made}.${at}`)}
    FROM ${sql.unsafe(made)}, jsonb_to_record(${JSON.stringify(request ? requestRow(request) : {})}::text::jsonb)
      AS r(principal text, rpc text, request_id text, body_hash text, ref text)
    WHERE r.request_id IS NOT NULL`;
}

export async function findRequest(
  sql: Sql,
  project: string,
  key: RequestKey,
): Promise<RememberedRequest | undefined> {
  const [row] = await sql<{ ref: string; body_hash: string }[]>`
    SELECT ref, encode(body_hash, 'hex') AS body_hash FROM request
    WHERE project = ${project} AND principal = ${key.principal} AND rpc = ${key.rpc} AND request_id = ${key.requestId}`;
  return row && { ref: row.ref, sameBody: row.body_hash === key.bodyHash };
}

/** Forgets what is older than a day, a bounded batch at a time. Answers how many it forgot. */
export async function forgetOldRequests(sql: Sql, batch: number): Promise<number> {
  const [row] = await sql<{ n: bigint }[]>`
    WITH old AS (
      SELECT ctid FROM request WHERE created_at < holdfast_now() - ${KEPT_FOR}::bigint
      ORDER BY created_at LIMIT ${batch} FOR UPDATE SKIP LOCKED
    ), gone AS (DELETE FROM request r USING old WHERE r.ctid = old.ctid RETURNING 1)
    SELECT count(*) AS n FROM gone`;
  return micros(row?.n ?? 0);
}

/**
 * Remembers a request that is carried out by several statements, before the first of them.
 *
 * @returns what another call remembered under the same id, if one did
 */
export async function claimRequest(
  sql: Sql,
  project: string,
  key: RequestKey,
  ref: string,
): Promise<RememberedRequest | undefined> {
  const { principal, rpc, requestId, bodyHash } = key;
  const claimed = await sql`
    INSERT INTO request (project, principal, rpc, request_id, body_hash, ref, created_at)
    VALUES (${project}, ${principal}, ${rpc}, ${requestId}, decode(${bodyHash}, 'hex'), ${ref}, holdfast_now())
    ON CONFLICT DO NOTHING RETURNING 1`;
  // In a statement of its own, it sees the row that it waited for.
  return claimed.length > 0 ? undefined : findRequest(sql, project, key);
}
