import { randomBytes } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { createToken, findIdentities, validTokens } from '../../src/store/tokens.js';
import { openStores, PROJECT, type Stores } from './fixture.js';

let db: Stores;
beforeAll(async () => {
  db = await openStores();
});

async function newToken(): Promise<{ id: string; project: string; hash: Buffer }> {
  const hash = randomBytes(32);
  const id = hash.toString('hex');
  const about = {
    principal: 'ada',
    kind: 'AGENT',
    role: 'agent',
    owner: false,
    lifetime: undefined,
  } as const;
  await createToken(db.stores[0], PROJECT, { id, hash, ...about }, undefined);
  return { id, project: PROJECT, hash };
}

const usedOf = async () => {
  const rows = await db.sql`SELECT id FROM token WHERE last_used_at IS NOT NULL`;
  return rows.map(({ id }) => id);
};

test('nobody waits to tell that a token was used, so that two who tell of several never wait for each other', async () => {
  const [store] = db.stores;
  const [locked, free] = [await newToken(), await newToken()];
  const session = await db.sql.reserve();
  await session`BEGIN`;
  await session`SELECT 1 FROM token WHERE id = ${locked.id} FOR UPDATE`;
  const hashes = [locked.hash, free.hash];
  expect(
    [...(await findIdentities(store, hashes)).values()].map(({ tokenId }) => tokenId).toSorted(),
  ).toEqual([locked.id, free.id].toSorted());
  expect(await usedOf()).toEqual([free.id]);
  expect(await validTokens(store, [locked, free])).toHaveLength(2);
  expect(await usedOf()).toEqual([free.id]);
  await session`ROLLBACK`;
  session.release();
  await findIdentities(store, hashes);
  expect((await usedOf()).toSorted()).toEqual([locked.id, free.id].toSorted());
});
