import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { DAY } from '../../src/domain/instant.js';
import { faultOf } from '../../src/store/database-error.js';
import { findRequest, forgetOldRequests, type RequestKey } from '../../src/store/requests.js';
import { stopClock } from '../support/clock.js';
import { acquire, everything, granted, look, newTask, openStores, PROJECT, type Stores } from './fixture.js';

let db: Stores;
beforeAll(async () => {
  db = await openStores(6);
});

const key = (over: Partial<RequestKey> = {}): RequestKey => ({
  principal: 'ada',
  rpc: 'AcquireLease',
  requestId: randomUUID(),
  bodyHash: 'aa',
  ...over,
});

/** The same call from every replica at once. */
const fromEverywhere = <T>(call: (store: Stores['stores'][number], i: number) => Promise<T>) =>
  Promise.all(db.stores.flatMap((store, i) => [call(store, i), call(store, i)]));

describe('a request that was applied', () => {
  test('is found again by the same body, and told from another body', async () => {
    const [store] = db.stores;
    const request = key();
    const taskId = await newTask(store);
    await acquire(store, taskId, { request });
    const lease = (await look(store, taskId)).state.lease?.id ?? expect.fail('was not granted');
    const before = await everything(db.sql);
    expect(await acquire(store, taskId, { request })).toEqual({
      kind: 'REPEATED',
      request: { ref: lease, sameBody: true },
    });
    expect(await acquire(store, taskId, { request: { ...request, bodyHash: 'bb' } })).toEqual({
      kind: 'REPEATED',
      request: { ref: lease, sameBody: false },
    });
    expect(await everything(db.sql)).toEqual(before);
  });

  test.each([
    ['principal', { principal: 'bob' }],
    ['RPC', { rpc: 'CompleteTask' }],
    ['id', { requestId: 'another' }],
  ])('is unknown to another %s', async (_name, over) => {
    const [store] = db.stores;
    const request = key();
    await acquire(store, await newTask(store), { request });
    expect(await findRequest(store.database.sql, PROJECT, { ...request, ...over })).toBeUndefined();
    expect(await findRequest(store.database.sql, 'elsewhere', request)).toBeUndefined();
  });

  test('is forgotten after a day, not before', async () => {
    const apart = await openStores();
    const [store] = apart.stores;
    const clock = await stopClock(apart.url);
    const request = key();
    await acquire(store, await newTask(store), { request });
    await clock.advance(DAY);
    expect(await forgetOldRequests(store.database.sql, 100)).toBe(0);
    await clock.advance(1);
    expect(await forgetOldRequests(store.database.sql, 100)).toBe(1);
    expect(await findRequest(store.database.sql, PROJECT, request)).toBeUndefined();
    await clock.close();
  });

  test('is forgotten a batch at a time', async () => {
    const apart = await openStores();
    const [store] = apart.stores;
    const clock = await stopClock(apart.url);
    for (let i = 0; i < 5; i++) await acquire(store, await newTask(store), { request: key() });
    await clock.advance(2 * DAY);
    const forgotten = [];
    for (let i = 0; i < 3; i++) forgotten.push(await forgetOldRequests(store.database.sql, 2));
    expect(forgotten).toEqual([2, 2, 1]);
    await clock.close();
  });
});

test('a refusal is not remembered: it is decided anew', async () => {
  const [store] = db.stores;
  const taskId = await newTask(store);
  const request = key();
  const rival = { principal: 'bob', kind: 'AGENT', role: 'agent', owner: false, executionId: 'r' } as const;
  await acquire(store, taskId, { who: rival });
  expect(granted(await acquire(store, taskId, { request }))).toBe(false);
  expect(await findRequest(store.database.sql, PROJECT, request)).toBeUndefined();
});

describe('duplicates at the same moment, from six replicas', () => {
  test('of an acquire: one grant, and the others read it', async () => {
    for (let round = 0; round < 5; round++) {
      const taskId = await newTask(db.stores[0]);
      const request = key();
      const outcomes = await fromEverywhere((store) => acquire(store, taskId, { request }));
      expect(outcomes.filter((outcome) => granted(outcome))).toHaveLength(1);
      const repeats = outcomes.flatMap((outcome) => (outcome.kind === 'REPEATED' ? [outcome.request] : []));
      const leases = await db.sql`SELECT id FROM lease WHERE task_id = ${taskId}`;
      expect(leases).toHaveLength(1);
      expect(repeats).toEqual(Array(11).fill({ ref: leases[0]?.id, sameBody: true }));
    }
  });

  test('of an acquire that picks another task each: still one grant, never two tasks', async () => {
    for (let round = 0; round < 5; round++) {
      const tasks = await Promise.all(db.stores.map((store) => newTask(store)));
      const request = key();
      const outcomes = await fromEverywhere((store, i) => acquire(store, tasks[i] as string, { request }));
      expect(outcomes.filter((outcome) => granted(outcome))).toHaveLength(1);
      expect(await db.sql`SELECT 1 FROM lease WHERE task_id = ANY(${tasks})`).toHaveLength(1);
    }
  });

  test('of a creation: one task', async () => {
    const request = key({ rpc: 'CreateTask' });
    const title = `created once ${request.requestId}`;
    const results = await Promise.allSettled(db.stores.map((store) => newTask(store, { title, request })));
    const faults = results.flatMap((result) =>
      result.status === 'rejected' ? [faultOf(result.reason)] : [],
    );
    expect(faults).toEqual(Array(5).fill('DUPLICATE'));
    expect(await db.sql`SELECT 1 FROM task WHERE title = ${title}`).toHaveLength(1);
  });
});
