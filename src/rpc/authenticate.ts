import { createHash } from 'node:crypto';
import type { Identity } from '../domain/identity.js';
import { createBatcher } from '../store/batcher.js';
import type { Store } from '../store/store.js';
import { findIdentities } from '../store/tokens.js';

/** Finds whom a secret stands for; undefined when it is unknown, revoked or expired. */
export type Authenticate = (secret: string) => Promise<Identity | undefined>;

const BEARER = /^bearer +(hf_[\w-]{43})$/i;

/** The secret in an `authorization` header; undefined when there is none, or something else. */
export const secretOf = (authorization = ''): string | undefined => BEARER.exec(authorization)?.[1];

/** Only the hash is compared, by the database's index: timing tells nothing about the secret. */
export const hashSecret = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/**
 * Asks the database on every call, so that a revocation holds at once, on every replica. Calls that come
 * together share a lookup.
 */
export function createAuthenticate(store: Store): Authenticate {
  const lookUp = createBatcher(async (hashes: readonly Buffer[]) => {
    const found = await findIdentities(store, hashes);
    return hashes.map((hash) => found.get(hash.toString('hex')));
  });
  return (secret) => lookUp(hashSecret(secret));
}
