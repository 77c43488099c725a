import { Code, ConnectError } from '@connectrpc/connect';
import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';
import { z } from 'zod';
import { SECOND } from '../domain/instant.js';
import type { Role } from '../domain/principal.js';
import { unauthenticated, type Voucher } from './vouched.js';

/** Which identity provider is trusted, and how its tokens are read. */
export interface OidcOptions {
  /** Exactly as its tokens name it, such as https://id.example.com/realms/team. */
  readonly issuer: string;
  /** What its tokens must be for. */
  readonly audience: string;
  /** Which value of the role claim gives which role; the strongest of several holds. */
  readonly roles: Readonly<Record<string, Role>>;
  readonly claims: { readonly principal: string; readonly role: string; readonly project: string };
}

/** A role by its weight: of several, the first one holds. */
const STRONGEST_FIRST: readonly Role[] = ['admin', 'member', 'viewer', 'agent'];

/** Clocks of providers may be so much ahead, in seconds. */
const TOLERANCE = 5;
/** How long the provider may take to answer, in milliseconds. */
const ANSWER_MS = 5_000;

const Discovery = z.object({ issuer: z.string(), jwks_uri: z.url() });
type Keys = ReturnType<typeof createRemoteJWKSet>;

/**
 * Reads the provider's tokens: signature, issuer, audience and expiry are checked, then the claims are.
 *
 * @returns whom a token is for. Throws UNAUTHENTICATED, or UNAVAILABLE when the provider's keys cannot be had
 */
export function createOidc(options: OidcOptions): (jwt: string) => Promise<Voucher> {
  const { issuer, audience } = options;
  let keys: Promise<Keys> | undefined;
  const keysOf = () => {
    keys ??= discover(issuer).catch((error) => {
      keys = undefined;
      throw error;
    });
    return keys;
  };
  return async (jwt) => {
    try {
      const { payload } = await jwtVerify(jwt, await keysOf(), {
        issuer,
        audience,
        requiredClaims: ['exp', 'sub'],
        clockTolerance: TOLERANCE,
      });
      return voucherOf(payload, options);
    } catch (error) {
      if (error instanceof ConnectError) throw error;
      // What a token says of itself is not told on: only what is wrong with it.
      if (!(error instanceof errors.JOSEError) || PROVIDERS_FAULTS.has(error.code)) {
        throw new ConnectError('The identity provider does not answer; try again.', Code.Unavailable);
      }
      throw unauthenticated(faultOf(error));
    }
  };
}

/** What is wrong with the provider's keys, not with the token. */
const PROVIDERS_FAULTS = new Set(['ERR_JOSE_GENERIC', 'ERR_JWKS_INVALID', 'ERR_JWKS_TIMEOUT']);

/** The last second of the year 9999: no later instant can be told. */
const LATEST_EXP = 253_402_300_799;

async function discover(issuer: string): Promise<Keys> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS), redirect: 'error' });
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}`);
  const found = Discovery.parse(await answer.json());
  if (found.issuer !== issuer) throw new Error(`${url} is of another issuer`);
  return createRemoteJWKSet(new URL(found.jwks_uri), { timeoutDuration: ANSWER_MS });
}

function faultOf(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return 'it has expired';
  if (error instanceof errors.JWTClaimValidationFailed) {
    return error.claim === 'aud' || error.claim === 'iss'
      ? `its ${error.claim} is not the one that this server expects`
      : `its claim ${JSON.stringify(error.claim)} is missing or wrong`;
  }
  return 'its signature cannot be verified';
}

function voucherOf(payload: JWTPayload, { issuer, roles, claims }: OidcOptions): Voucher {
  const [principal] = textsAt(payload, claims.principal);
  if (principal === undefined)
    throw unauthenticated(`its claim ${JSON.stringify(claims.principal)} is missing`);
  const given = textsAt(payload, claims.role).map((value) =>
    Object.hasOwn(roles, value) ? roles[value] : undefined,
  );
  const role = STRONGEST_FIRST.find((one) => given.includes(one));
  if (!role) throw unauthenticated(`its claim ${JSON.stringify(claims.role)} gives no role`);
  const [project = 'default'] = textsAt(payload, claims.project);
  return {
    source: `oidc ${issuer} ${payload.sub}`,
    principal,
    role,
    project,
    expiresAt: Math.floor(Math.min(payload.exp ?? 0, LATEST_EXP) * SECOND),
  };
}

/** A claim's text, or texts: by its name as it is, or by the way to it, such as `realm_access.roles`. */
function textsAt(payload: JWTPayload, name: string): string[] {
  const at = (from: unknown, key: string): unknown =>
    typeof from === 'object' && from !== null && Object.hasOwn(from, key)
      ? (from as Record<string, unknown>)[key]
      : undefined;
  const value = at(payload, name) ?? name.split('.').reduce(at, payload as unknown);
  return [value].flat().filter((one): one is string => typeof one === 'string' && one !== '');
}
