import { and, asc, eq, gt, isNull } from 'drizzle-orm';
import type { Actor } from '../domain/event.js';
import type { Identity, MadeFor } from '../domain/identity.js';
import { DAY, type Micros } from '../domain/instant.js';
import type { PrincipalKind, Role } from '../domain/principal.js';
import { eventColumns } from './apply-json.js';
import { bytesArray } from './arrays.js';
import { kindCodes, madeForCodes, roleCodes } from './codes.js';
import { token } from './schema.js';
import type { Store } from './store.js';
import { maybeMicros, micros, type Row } from './task-row.js';

export interface NewToken {
  readonly id: string;
  /** SHA-256 of the secret. */
  readonly hash: Buffer;
  readonly principal: string;
  readonly kind: PrincipalKind;
  readonly role: Role;
  readonly owner: boolean;
  /** From now; undefined: until revoked. */
  readonly lifetime: Micros | undefined;
  readonly madeFor?: MadeFor;
}

/**
 * Creates a token, and its principal when that is new.
 *
 * @returns when it expires, or 'OTHER_KIND' when the principal is known as one of the other kind
 */
export async function createToken(
  { database: { sql }, commits }: Store,
  project: string,
  fresh: NewToken,
  actor: Actor | undefined,
): Promise<{ expiresAt: Micros | undefined } | 'OTHER_KIND'> {
  const event = eventColumns({
    kind: 'TOKEN_CREATED',
    ...(actor && { actor }),
    payload: { tokenId: fresh.id, principal: fresh.principal, kind: fresh.kind, role: fresh.role },
  });
  const [row] = await sql<Row[]>`
    WITH clock AS MATERIALIZED (SELECT holdfast_now() AS t), known AS (
      INSERT INTO principal (project, id, kind) VALUES (${project}, ${fresh.principal}, ${kindCodes.code(fresh.kind)})
      ON CONFLICT (project, id) DO UPDATE SET kind = principal.kind RETURNING kind
    ), made AS (
      INSERT INTO token (project, id, principal, kind, role, owner, hash, made_for, created_at, expires_at)
      SELECT ${project}, ${fresh.id}, ${fresh.principal}, known.kind, ${roleCodes.code(fresh.role)}, ${fresh.owner},
        ${fresh.hash}, ${fresh.madeFor ? madeForCodes.code(fresh.madeFor) : null}::smallint, t,
        t + ${fresh.lifetime ?? null}::bigint
      FROM clock, known WHERE known.kind = ${kindCodes.code(fresh.kind)}
      RETURNING expires_at
    ), told AS (
      INSERT INTO event (project, kind, at, actor, actor_kind, execution_id, payload)
      SELECT ${project}, ${event.kind}, t, ${event.actor ?? null}, ${event.actor_kind ?? null}, ${event.execution_id ?? null},
        ${JSON.stringify(event.payload)}::text::jsonb
      FROM clock, made
    )
    SELECT expires_at FROM made`;
  if (!row) return 'OTHER_KIND';
  commits.eventsWritten();
  return { expiresAt: maybeMicros(row.expires_at) };
}

/** Answers false when it was revoked before, undefined when the project has no such token. */
export async function revokeToken(
  { database: { sql }, commits }: Store,
  project: string,
  tokenId: string,
  actor: Actor,
): Promise<boolean | undefined> {
  const [row] = await sql<Row[]>`
    WITH clock AS MATERIALIZED (SELECT holdfast_now() AS t), found AS MATERIALIZED (
      SELECT * FROM token WHERE project = ${project} AND id = ${tokenId} FOR UPDATE
    ), revoked AS (
      UPDATE token SET revoked_at = clock.t FROM clock, found
      WHERE token.project = found.project AND token.id = found.id AND found.revoked_at IS NULL
      RETURNING token.id, token.principal, token.kind, token.role
    ), told AS (
      INSERT INTO event (project, kind, at, actor, actor_kind, execution_id, payload)
      SELECT ${project}, 31, t, ${actor.principal}, ${kindCodes.code(actor.kind)}, ${actor.executionId ?? null},
        jsonb_build_object('tokenId', revoked.id, 'principal', revoked.principal,
          'kind', CASE revoked.kind WHEN 1 THEN 'AGENT' ELSE 'PERSON' END,
          'role', (ARRAY['agent', 'viewer', 'member', 'admin'])[revoked.role])
      FROM clock, revoked
    )
    SELECT EXISTS (SELECT 1 FROM revoked) AS now_revoked FROM found`;
  if (!row) return undefined;
  if (row.now_revoked) commits.eventsWritten();
  return row.now_revoked as boolean;
}

/** What the server made a token for by itself; undefined: somebody asked for it, or is vouched for. */
export async function madeFor(
  { database: { orm } }: Store,
  { project, tokenId }: Pick<Identity, 'project' | 'tokenId'>,
): Promise<MadeFor | undefined> {
  const [row] = await orm
    .select({ code: token.madeFor })
    .from(token)
    .where(and(eq(token.project, project), eq(token.id, tokenId)));
  return row?.code ? madeForCodes.name(row.code) : undefined;
}

/**
 * To the minute, in microseconds: a write for each call would make every call a write. A row that somebody has locked is
 * left to them: they tell the same, and two who waited for each other's rows would wait for ever.
 */
const USE_TOLD_EVERY = 60_000_000;

/** The identities behind secrets that are valid now; what is missing is unknown, revoked or expired. */
export async function findIdentities(
  { database: { hot: sql } }: Store,
  hashes: readonly Buffer[],
): Promise<Map<string, Identity>> {
  const hex = hashes.map((hash) => hash.toString('hex'));
  const rows = await sql<Row[]>`
    SELECT encode(hash, 'hex') AS hash, id, project, principal, kind, role, owner, expires_at,
      coalesce(last_used_at < holdfast_now() - ${USE_TOLD_EVERY}::bigint, true) AS told_long_ago
    FROM token
    WHERE hash = ANY(${bytesArray(sql, hex)}) AND revoked_at IS NULL
      AND (expires_at IS NULL OR expires_at > holdfast_now())`;
  const used = rows.filter((row) => row.told_long_ago).map((row) => row.hash as string);
  if (used.length > 0) {
    await sql`
      WITH free AS MATERIALIZED (
        SELECT project, id FROM token
        WHERE hash = ANY(${bytesArray(sql, used)}) FOR NO KEY UPDATE SKIP LOCKED
      )
      UPDATE token t SET last_used_at = holdfast_now() FROM free WHERE t.project = free.project AND t.id = free.id`;
  }
  return new Map(
    rows.map((row) => [
      row.hash as string,
      {
        tokenId: row.id as string,
        project: row.project as string,
        principal: row.principal as string,
        kind: kindCodes.name(row.kind as number),
        role: roleCodes.name(row.role as number),
        owner: row.owner as boolean,
        expiresAt: maybeMicros(row.expires_at),
      },
    ]),
  );
}

/** Those of some tokens that are valid now. For callers that stay: it counts as a use of them. */
export async function validTokens(
  { database: { sql } }: Store,
  tokens: readonly { readonly project: string; readonly id: string }[],
): Promise<{ project: string; id: string }[]> {
  const rows = await sql<Row[]>`
    SELECT t.project, t.id, coalesce(t.last_used_at < holdfast_now() - ${USE_TOLD_EVERY}::bigint, true) AS told_long_ago
    FROM jsonb_to_recordset(${JSON.stringify(tokens)}::text::jsonb) AS w(project text, id text)
    JOIN token t ON t.project = w.project AND t.id = w.id
    WHERE t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > holdfast_now())`;
  const valid = rows.map((row) => ({ project: row.project as string, id: row.id as string }));
  const used = valid.filter((_, i) => rows[i]?.told_long_ago);
  if (used.length > 0) {
    await sql`
      WITH free AS MATERIALIZED (
        SELECT t.project, t.id
        FROM jsonb_to_recordset(${JSON.stringify(used)}::text::jsonb) AS w(project text, id text)
        JOIN token t ON t.project = w.project AND t.id = w.id
        FOR NO KEY UPDATE OF t SKIP LOCKED
      )
      UPDATE token t SET last_used_at = holdfast_now() FROM free WHERE t.project = free.project AND t.id = free.id`;
  }
  return valid;
}

/** How long a token stays in the list after it expired. */
const KEPT_EXPIRED: Micros = 30 * DAY;

/**
 * Forgets tokens that expired long ago, at most `batch`, and answers how many. Nobody can use them again: somebody who
 * is vouched for anew is given a new one.
 *
 * A revoked one stays, since whoever is vouched for is told by it that they are not to come in, however often their
 * voucher is renewed. One that the server made by itself is nobody's voucher.
 */
export async function forgetExpiredTokens({ database: { sql } }: Store, batch: number): Promise<number> {
  const { count } = await sql`
    WITH old AS MATERIALIZED (
      SELECT project, id FROM token
      WHERE expires_at < holdfast_now() - ${KEPT_EXPIRED}::bigint AND (revoked_at IS NULL OR made_for IS NOT NULL)
      -- Looked at again once it is locked: it may have been kept for longer, or revoked, meanwhile.
      LIMIT ${batch} FOR UPDATE SKIP LOCKED
    )
    DELETE FROM token t USING old WHERE t.project = old.project AND t.id = old.id`;
  return count;
}

export interface TokenListing {
  readonly id: string;
  readonly principal: string;
  readonly kind: PrincipalKind;
  readonly role: Role;
  readonly createdAt: Micros;
  readonly expiresAt: Micros | undefined;
  readonly lastUsedAt: Micros | undefined;
  readonly revokedAt: Micros | undefined;
}

/** A project's tokens, oldest first (their ids rise with time), after an id; never their secrets. */
export async function listTokens(
  { database: { orm } }: Store,
  project: string,
  after: string,
  limit: number,
): Promise<TokenListing[]> {
  const rows = await orm
    .select()
    .from(token)
    .where(and(eq(token.project, project), gt(token.id, after)))
    .orderBy(asc(token.id))
    .limit(limit);
  return rows.map((row) => ({
    id: row.id,
    principal: row.principal,
    kind: kindCodes.name(row.kind),
    role: roleCodes.name(row.role),
    createdAt: micros(row.createdAt),
    expiresAt: row.expiresAt ?? undefined,
    lastUsedAt: row.lastUsedAt ?? undefined,
    revokedAt: row.revokedAt ?? undefined,
  }));
}

/** Whether anybody owns this server yet. */
export async function hasOwner({ database: { orm } }: Store): Promise<boolean> {
  const rows = await orm
    .select({ id: token.id })
    .from(token)
    .where(and(eq(token.owner, true), isNull(token.revokedAt)))
    .limit(1);
  return rows.length > 0;
}
