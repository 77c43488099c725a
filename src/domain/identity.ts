import type { Micros } from './instant.js';
import type { PrincipalKind, Role } from './principal.js';

/** Whom a token stands for. */
export interface Identity {
  readonly tokenId: string;
  readonly project: string;
  /** In canonical form. */
  readonly principal: string;
  readonly kind: PrincipalKind;
  readonly role: Role;
  /** An admin of the whole server, who may name any project. */
  readonly owner: boolean;
  readonly expiresAt: Micros | undefined;
}
