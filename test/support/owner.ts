import type { Settings } from '../../src/domain/settings.js';
import { hashSecret } from '../../src/rpc/authenticate.js';
import { newId, newSecret } from '../../src/rpc/ids.js';
import { openDatabase } from '../../src/store/database.js';
import { createStore } from '../../src/store/store.js';
import { createToken } from '../../src/store/tokens.js';

/**
 * Makes an owner, `owner`, in a migrated database: admin of every project.
 *
 * @returns its secret
 */
export async function makeOwner(databaseUrl: string, defaults: Settings): Promise<string> {
  const database = openDatabase({ url: databaseUrl, poolSize: 1 });
  const secret = newSecret();
  try {
    const store = createStore(database, defaults, { eventsWritten() {}, tasksReady() {}, deadlineSet() {} });
    await createToken(
      store,
      'default',
      {
        id: newId(),
        hash: hashSecret(secret),
        principal: 'owner',
        kind: 'PERSON',
        role: 'admin',
        owner: true,
        lifetime: undefined,
      },
      undefined,
    );
  } finally {
    await database.close();
  }
  return secret;
}
