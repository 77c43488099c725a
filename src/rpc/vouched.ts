import { Code, ConnectError } from '@connectrpc/connect';
import type { Identity } from '../domain/identity.js';
import type { Micros } from '../domain/instant.js';
import {
  canonicalPrincipal,
  isReservedPrincipal,
  type PrincipalKind,
  type Role,
} from '../domain/principal.js';
import { admit } from '../store/guests.js';
import type { Store } from '../store/store.js';
import { type Authenticate, hashSecret } from './authenticate.js';
import { newId } from './ids.js';
import type { PeerCertificate } from './peer-certificate.js';

/** What a certificate or an identity provider says of a caller. */
export interface Voucher {
  /** Who says so, and of whom: the same for every voucher of one subject. */
  readonly source: string;
  readonly principal: string;
  readonly role: Role;
  readonly project: string;
  readonly expiresAt: Micros;
}

/** Finds whom others than this server vouch for; what is absent is not trusted here. */
export interface IdentityOfVouched {
  readonly ofCertificate?: (certificate: PeerCertificate) => Promise<Identity>;
  readonly ofJwt?: (jwt: string) => Promise<Identity>;
}

/** Longer names are no principal. */
const MAX_ID = 256;
/** No control characters, no half characters: what an id may not have. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;

const kindOf = (role: Role): PrincipalKind => (role === 'agent' ? 'AGENT' : 'PERSON');

/**
 * Finds the identity of somebody who is vouched for. At first sight it is given a token of its own, which nobody has
 * the secret of: so it can be listed, watched by and revoked like all others.
 *
 * @throws UNAUTHENTICATED when it cannot be admitted, with the reason
 */
export function createAdmission(store: Store, authenticate: Authenticate) {
  return async (voucher: Voucher): Promise<Identity> => {
    const principal = canonicalPrincipal(voucher.principal);
    const { project, role, expiresAt } = voucher;
    if (principal === '' || principal.length > MAX_ID || UNPRINTABLE.test(principal)) {
      throw unauthenticated('its subject is no name of a principal: 1 to 256 printable characters');
    }
    if (project.length > MAX_ID || UNPRINTABLE.test(project)) {
      throw unauthenticated('its project is no id of one: 1 to 256 printable characters');
    }
    if (isReservedPrincipal(principal))
      throw unauthenticated(`the name ${JSON.stringify(principal)} is reserved`);
    // Another role or project of the same subject is another token.
    const secret = JSON.stringify([voucher.source, project, principal, role]);
    const known = await authenticate(secret);
    if (known?.expiresAt !== undefined && known.expiresAt >= expiresAt) return known;
    const admission = await admit(store, {
      tokenId: newId(),
      hash: hashSecret(secret),
      project,
      principal,
      kind: kindOf(role),
      role,
      expiresAt,
    });
    switch (admission) {
      case 'NO_PROJECT':
        throw unauthenticated(`there is no project ${JSON.stringify(project)}`);
      case 'OTHER_KIND':
        throw unauthenticated(
          `${JSON.stringify(principal)} is known in this project as a principal of the other kind`,
        );
      case 'REFUSED':
        throw unauthenticated('an admin has revoked it');
    }
    const admitted = await authenticate(secret);
    if (!admitted) throw unauthenticated('it has expired');
    return admitted;
  };
}

/** Why somebody who is vouched for is not let in. */
export function unauthenticated(reason: string): ConnectError {
  return new ConnectError(
    `The caller's certificate or bearer token does not do: ${reason}.`,
    Code.Unauthenticated,
  );
}
