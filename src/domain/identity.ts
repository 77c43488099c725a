import type { Micros } from './instant.js';
import type { PrincipalKind, Role } from './principal.js';

/**
 * What the server made a token for by itself: for whoever came by a one-time link, or for all visitors together. Others
 * somebody asked for, or vouched for.
 */
export type MadeFor = 'SIGN_IN' | 'VISITORS';

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
