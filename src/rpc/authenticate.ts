import { createHash } from 'node:crypto';
import type { Identity } from '../domain/identity.js';
import type { Store } from '../store/store.js';
import { findIdentities } from '../store/tokens.js';

/** Finds whom a secret stands for; undefined when it is unknown, revoked or expired. */
export type Authenticate = (secret: string) => Promise<Identity | undefined>;

/** Only the hash is compared, by the database's index: timing tells nothing about the secret. */
export const hashSecret = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/**
 * Asks the database on every call, so that a revocation holds at once, on every replica. Calls that come
 * while one lookup is under way share the next: a busy server makes a few large lookups, not many small.
 */
export function createAuthenticate(store: Store): Authenticate {
  let waiting: Map<string, Buffer> | undefined;
  let pending: Promise<Map<string, Identity>> = Promise.resolve(new Map());
  let next: Promise<Map<string, Identity>> | undefined;

  return async (secret) => {
    const hash = hashSecret(secret);
    const key = hash.toString('hex');
    waiting ??= new Map();
    waiting.set(key, hash);
    next ??= pending
      .catch(() => {})
      .then(() => {
        const hashes = [...(waiting?.values() ?? [])];
        waiting = undefined;
        next = undefined;
        pending = findIdentities(store, hashes);
        return pending;
      });
    return (await next).get(key);
  };
}
