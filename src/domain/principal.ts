export type PrincipalKind = 'AGENT' | 'PERSON';
export type Role = 'agent' | 'viewer' | 'member' | 'admin';

/** Who a lease was granted to: one principal may run many executions, and each is another holder. */
export interface Holder {
  readonly principal: string;
  readonly executionId: string;
}

/** Who calls, as its token says, and on behalf of which of its executions. */
export interface Caller {
  readonly principal: string;
  readonly kind: PrincipalKind;
  readonly role: Role;
  /** An admin of the whole server, who may name any project. */
  readonly owner: boolean;
  /** Absent only for a PERSON that named none. */
  readonly executionId: string | undefined;
}

const ROLES: Record<PrincipalKind, readonly Role[]> = {
  AGENT: ['agent'],
  PERSON: ['viewer', 'member', 'admin'],
};

export function roleFits(kind: PrincipalKind, role: Role): boolean {
  return ROLES[kind].includes(role);
}

/**
 * The one spelling under which a principal is known. Two names that differ only in case or in Unicode
 * composition are one principal, never two.
 */
export function canonicalPrincipal(name: string): string {
  return name.normalize('NFKC').toLowerCase().normalize('NFKC');
}

/**
 * Whether a name is the server's own: what an owner does in any project is told under it, so that nobody else there
 * may have it.
 */
export function isReservedPrincipal(principal: string): boolean {
  return principal === 'owner';
}

export function isHolder(holder: Holder, caller: Caller): boolean {
  return holder.principal === caller.principal && holder.executionId === caller.executionId;
}
