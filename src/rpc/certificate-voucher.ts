import type { Role } from '../domain/principal.js';
import type { PeerCertificate } from './peer-certificate.js';
import { unauthenticated, type Voucher } from './vouched.js';

const ROLES: readonly Role[] = ['agent', 'viewer', 'member', 'admin'];

/**
 * Whom a client's certificate is for: the subject's CN is the principal, its O the project (none: `default`), its OU
 * the role (none: `agent`).
 *
 * @throws UNAUTHENTICATED when it names nobody
 */
export function voucherOf(certificate: PeerCertificate): Voucher {
  const { commonName, organization = 'default', unit = 'agent', id, validTo } = certificate;
  if (!commonName) throw unauthenticated('its subject must have one CN, the principal');
  if (organization === '') throw unauthenticated('its subject must have one O, the project, or none');
  const role = ROLES.find((known) => known === unit);
  if (!role) throw unauthenticated(`its OU must be one of ${ROLES.join(', ')}, or absent`);
  return {
    source: `certificate ${id}`,
    principal: commonName,
    project: organization,
    role,
    expiresAt: validTo * 1_000,
  };
}
