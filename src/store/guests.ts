import type { Micros } from '../domain/instant.js';
import type { PrincipalKind, Role } from '../domain/principal.js';
import { eventColumns } from './apply-json.js';
import { kindCodes, roleCodes } from './codes.js';
import type { Store } from './store.js';

/** Somebody whom a certificate or an identity provider vouches for. */
export interface Guest {
  /** Of the token that stands for this voucher. */
  readonly tokenId: string;
  /** Of what the voucher says: it is known again by it. No secret has this hash. */
  readonly hash: Buffer;
  readonly project: string;
  readonly principal: string;
  readonly kind: PrincipalKind;
  readonly role: Role;
  /** Until when it is vouched for. */
  readonly expiresAt: Micros;
}

/** What came of it: `REFUSED`: the token was revoked, so whoever vouches now, an admin has said no. */
export type Admission = 'ADMITTED' | 'NO_PROJECT' | 'OTHER_KIND' | 'REFUSED';

/**
 * Keeps a token for a guest, or keeps the one that is there for longer. From then on it is like any other: listed,
 * revocable, and what open streams are checked by.
 */
export async function admit({ database: { sql }, commits }: Store, guest: Guest): Promise<Admission> {
  const { tokenId, principal, kind, role, project } = guest;
  const event = eventColumns({
    kind: 'TOKEN_CREATED',
    actor: { principal, kind, executionId: undefined },
    payload: { tokenId, principal, kind, role },
  });
  const [row] = await sql<{ home: boolean; barred: boolean; same_kind: boolean; fresh: boolean | null }[]>`
    WITH clock AS MATERIALIZED (SELECT holdfast_now() AS t), home AS (
      SELECT id FROM project WHERE id = ${project}
    ), barred AS (
      SELECT FROM token WHERE hash = ${guest.hash} AND revoked_at IS NOT NULL
    ), known AS (
      -- Whoever is not admitted writes nothing, however often it comes.
      INSERT INTO principal (project, id, kind) SELECT home.id, ${principal}, ${kindCodes.code(kind)}::smallint FROM home
      WHERE NOT EXISTS (SELECT FROM barred)
      ON CONFLICT (project, id) DO UPDATE SET kind = principal.kind WHERE principal.kind = excluded.kind RETURNING kind
    ), made AS (
      INSERT INTO token (project, id, principal, kind, role, owner, hash, created_at, expires_at)
      SELECT ${project}, ${tokenId}, ${principal}, known.kind, ${roleCodes.code(role)}::smallint, false, ${guest.hash}, t,
        ${guest.expiresAt}::bigint
      FROM clock, known WHERE known.kind = ${kindCodes.code(kind)}
      ON CONFLICT (hash) DO UPDATE SET expires_at = greatest(token.expires_at, excluded.expires_at)
        WHERE token.revoked_at IS NULL
      RETURNING id = ${tokenId} AS fresh
    ), told AS (
      INSERT INTO event (project, kind, at, actor, actor_kind, payload)
      SELECT ${project}, ${event.kind}::smallint, t, ${principal}, ${event.actor_kind ?? null}::smallint,
        ${JSON.stringify(event.payload)}::text::jsonb
      FROM clock, made WHERE made.fresh
    )
    SELECT EXISTS (SELECT 1 FROM home) AS home,
      EXISTS (SELECT FROM barred) AS barred,
      EXISTS (SELECT 1 FROM known WHERE kind = ${kindCodes.code(kind)}) AS same_kind,
      (SELECT fresh FROM made) AS fresh`;
  if (!row?.home) return 'NO_PROJECT';
  if (row.barred) return 'REFUSED';
  if (!row.same_kind) return 'OTHER_KIND';
  if (row.fresh === null) return 'REFUSED';
  if (row.fresh) commits.eventsWritten();
  return 'ADMITTED';
}
