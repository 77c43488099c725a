import { hashSecret } from './rpc/authenticate.js';
import { newId, newSecret } from './rpc/ids.js';
import type { Store } from './store/store.js';
import { createToken, type NewToken } from './store/tokens.js';

/**
 * Makes a token of the project `default` for a person whom the server itself lets in: its owner, or a visitor.
 *
 * @returns the secret
 */
export async function makePersonToken(
  store: Store,
  token: Pick<NewToken, 'principal' | 'role' | 'owner' | 'lifetime' | 'madeFor'>,
): Promise<string> {
  const secret = newSecret();
  const made = await createToken(
    store,
    'default',
    { ...token, id: newId(), hash: hashSecret(secret), kind: 'PERSON' },
    undefined,
  );
  if (made === 'OTHER_KIND') {
    throw new Error(`The principal "${token.principal}" of the project "default" is an agent.`);
  }
  return secret;
}
