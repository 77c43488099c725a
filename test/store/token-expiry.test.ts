import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DAY, HOUR } from '../../src/domain/instant.js';
import { createHousekeeping } from '../../src/feed/housekeeping.js';
import { admit } from '../../src/store/guests.js';
import type { Store } from '../../src/store/store.js';
import {
  createToken,
  forgetExpiredTokens,
  listTokens,
  type NewToken,
  revokeToken,
} from '../../src/store/tokens.js';
import { type MovableClock, stopClock } from '../support/clock.js';
import { untilWaiting } from '../support/row-lock.js';
import { openStores, PROJECT, type Stores } from './fixture.js';

const ADMIN = { principal: 'ann', kind: 'PERSON', executionId: undefined } as const;

let db: Stores;
let store: Store;
let clock: MovableClock;
beforeEach(async () => {
  db = await openStores(2);
  store = db.stores[0];
  clock = await stopClock(db.url);
});
afterEach(() => clock.close());

async function make(id: string, more: Partial<NewToken> = {}): Promise<void> {
  const about = { principal: 'mia', kind: 'PERSON', role: 'viewer', owner: false, lifetime: HOUR } as const;
  await createToken(store, PROJECT, { id, hash: randomBytes(32), ...about, ...more }, undefined);
}

const VOUCHER = randomBytes(32);

/** As whoever shows the same certificate or a new JWT of the same subject. */
const come = async (tokenId: string, lifetime = HOUR) =>
  admit(store, {
    tokenId,
    hash: VOUCHER,
    project: PROJECT,
    principal: 'gus',
    kind: 'PERSON',
    role: 'member',
    expiresAt: (await clock.now()) + lifetime,
  });

const revoke = (id: string) => revokeToken(store, PROJECT, id, ADMIN);
const listed = async () => (await listTokens(store, PROJECT, '', 100)).map(({ id }) => id);
const forget = () => forgetExpiredTokens(store, 100);

describe('a token', () => {
  test('is forgotten 30 days after it expired, to the microsecond, and its events stay', async () => {
    await make('brief');
    await make('endless', { lifetime: undefined });
    await make('longer', { lifetime: HOUR + 1 });
    await clock.advance(HOUR + 30 * DAY);
    expect([await forget(), await listed()]).toEqual([0, ['brief', 'endless', 'longer']]);
    await clock.advance(1);
    expect([await forget(), await listed()]).toEqual([1, ['endless', 'longer']]);
    const told = await db.sql`SELECT payload->>'tokenId' AS id FROM event WHERE kind = 30 ORDER BY 1`;
    expect(told.map(({ id }) => id)).toEqual(['brief', 'endless', 'longer']);
  });

  test('that was revoked is kept, unless the server made it by itself', async () => {
    const made = ['asked-for', 'by-link', 'of-visitors'];
    await make('asked-for');
    await make('by-link', { madeFor: 'SIGN_IN' });
    await make('of-visitors', { madeFor: 'VISITORS' });
    for (const id of made) await revoke(id);
    await clock.advance(32 * DAY);
    expect([await forget(), await listed()]).toEqual([2, ['asked-for']]);
  });

  test('is forgotten in batches, by the housekeeping', async () => {
    for (let n = 0; n < 3; n++) await make(`token-${n}`);
    await clock.advance(32 * DAY);
    expect([await forgetExpiredTokens(store, 2), await forgetExpiredTokens(store, 2)]).toEqual([2, 1]);
    await make('late');
    await clock.advance(32 * DAY);
    const faults: unknown[] = [];
    const housekeeping = createHousekeeping(store, (...fault) => faults.push(fault), 0, 10);
    await expect.poll(listed).toEqual([]);
    await housekeeping.stop();
    expect(faults).toEqual([]);
  });
});

describe('a guest', () => {
  test('that comes again after its token was forgotten is admitted by a new one', async () => {
    expect(await come('first')).toBe('ADMITTED');
    await clock.advance(32 * DAY);
    await forget();
    expect(await listed()).toEqual([]);
    expect(await come('second')).toBe('ADMITTED');
    expect(await listed()).toEqual(['second']);
  });

  test('that was revoked is refused however much later it comes', async () => {
    await come('first');
    await revoke('first');
    await clock.advance(300 * DAY);
    expect([await forget(), await come('second')]).toEqual([0, 'REFUSED']);
  });

  test.each([
    ['whose token is kept for longer meanwhile keeps it', async () => void (await come('again')), 'ADMITTED'],
    ['that is revoked meanwhile stays out', async () => void (await revoke('first')), 'REFUSED'],
  ])('%s', async (_name, meanwhile, then) => {
    await come('first');
    await clock.advance(32 * DAY);
    const session = await db.sql.reserve();
    await session`BEGIN`;
    // Whoever comes first holds the row, and the housekeeping passes it over.
    await session`SELECT 1 FROM token WHERE id = 'first' FOR UPDATE`;
    const happening = meanwhile();
    await untilWaiting(db.sql, 1);
    expect(await forget()).toBe(0);
    await session`ROLLBACK`;
    session.release();
    await happening;
    expect([await forget(), await listed(), await come('later')]).toEqual([0, ['first'], then]);
  });
});
