import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from 'postgres';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { createWaitingRoom, type WaitingRoom } from '../../src/feed/waiting-room.js';
import type { QueueFilter } from '../../src/store/queue-list.js';
import type { Store } from '../../src/store/store.js';
import { ADA, newTask, openStores, PROJECT } from '../store/fixture.js';
import { holdRow } from '../support/row-lock.js';

const ANY: QueueFilter = { planId: undefined, labels: [], assignee: undefined };
const MINUTE_MS = 60_000;

let store: Store;
let sql: Sql;
let room: WaitingRoom;
let faults: unknown[];
/** How often candidates were read. */
let reads: number;
const rooms: WaitingRoom[] = [];

beforeEach(async () => {
  const opened = await openStores();
  [store] = opened.stores;
  sql = opened.sql;
  reads = 0;
  faults = [];
  // No poll: nothing but a wake-up serves those who wait.
  room = createWaitingRoom(counting(store), (_job, error) => faults.push(error), 1_000_000);
  rooms.push(room);
});
afterAll(() => Promise.all(rooms.map((one) => one.stop())));

function counting(inner: Store): Store {
  const counted = new Proxy(inner.database.sql, {
    apply(target, self, args: [TemplateStringsArray, ...unknown[]]) {
      if (args[0].join?.('').includes('false AS lapsed FROM')) reads += 1;
      return Reflect.apply(target, self, args);
    },
  });
  return { ...inner, database: { ...inner.database, sql: counted } };
}

interface Asking {
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
  readonly requestId?: string;
  readonly filter?: QueueFilter;
}

let asked = 0;
function ask({
  waitMs = MINUTE_MS,
  signal = new AbortController().signal,
  requestId,
  filter = ANY,
}: Asking = {}) {
  asked += 1;
  const request = requestId && { principal: 'ada', rpc: 'AcquireNextTask', requestId, bodyHash: '00' };
  return room.next(
    PROJECT,
    filter,
    {
      caller: { ...ADA, executionId: `run-${asked}` },
      ttl: undefined,
      leaseId: randomUUID(),
      request: request || undefined,
    },
    waitMs,
    signal,
  );
}

const leases = async () => (await sql`SELECT count(*)::int AS n FROM lease`)[0]?.n;
/** Until the room has served everybody who came: a call that does not wait is answered behind them. */
const served = () => ask({ waitMs: 0 });

test('first come, first served', async () => {
  const order: number[] = [];
  const calls = Array.from({ length: 5 }, (_, n) => ask().then((result) => order.push(n) && result));
  expect((await served()).kind).toBe('NOTHING_READY');
  for (const n of [0, 1, 2, 3, 4]) {
    const taskId = await newTask(store);
    room.wake(PROJECT);
    const result = await calls[n];
    expect(result).toMatchObject({ kind: 'GRANTED', applied: { state: { taskId } } });
    expect(order).toEqual([0, 1, 2, 3, 4].slice(0, n + 1));
  }
  expect(faults).toEqual([]);
});

test('a thousand wait and one task becomes ready: one grant, and few reads', async () => {
  const abort = new AbortController();
  setMaxListeners(0, abort.signal);
  let grants = 0;
  const calls = Array.from({ length: 1_000 }, () =>
    ask({ signal: abort.signal }).then(
      ({ kind }) => {
        grants += kind === 'GRANTED' ? 1 : 0;
      },
      () => {},
    ),
  );
  await served();
  reads = 0;
  await newTask(store);
  room.wake(PROJECT);
  await Promise.race(calls);
  // A second wake-up that finds nothing.
  room.wake(PROJECT);
  await served();
  expect(grants).toBe(1);
  expect(await leases()).toBe(1);
  expect(reads).toBeLessThan(8);
  abort.abort(new Error('enough'));
  await Promise.all(calls);
});

test('a wait runs out at its time', async () => {
  const begin = performance.now();
  expect((await ask({ waitMs: 300 })).kind).toBe('NOTHING_READY');
  const took = performance.now() - begin;
  expect(took).toBeGreaterThanOrEqual(295);
  expect(took).toBeLessThan(10_000);
});

test('who gives up takes no task and is not in the way of others', async () => {
  const abort = new AbortController();
  const first = ask({ signal: abort.signal });
  const second = ask();
  await served();
  abort.abort(new Error('gone'));
  await expect(first).rejects.toThrow('gone');
  await newTask(store);
  room.wake(PROJECT);
  expect((await second).kind).toBe('GRANTED');
  expect(await leases()).toBe(1);
});

test('a grant under way when its caller gives up is found again by its request_id', async () => {
  const taskId = await newTask(store);
  const abort = new AbortController();
  const lost = ask({ requestId: 'once', signal: abort.signal }).catch((error: Error) => error.message);
  while (reads === 0) await sleep(0);
  abort.abort(new Error('gone'));
  expect(await lost).toBe('gone');
  await expect.poll(leases).toBe(1);
  const again = await ask({ requestId: 'once', waitMs: 0 });
  const [lease] = await sql`SELECT id FROM lease WHERE task_id = ${taskId}`;
  expect(again).toEqual({ kind: 'REPEATED', request: { ref: lease?.id, sameBody: true } });
});

test('lines with different filters do not wait for each other', async () => {
  const picky = ask({ filter: { ...ANY, labels: ['red'] } });
  const any = ask();
  await served();
  await newTask(store);
  room.wake(PROJECT);
  expect((await any).kind).toBe('GRANTED');
  const undecided = Symbol();
  expect(await Promise.race([picky, sleep(50).then(() => undecided)])).toBe(undecided);
});

test('the same request twice at once is one grant', async () => {
  await newTask(store);
  await newTask(store);
  const results = await Promise.all([ask({ requestId: 'twice' }), ask({ requestId: 'twice' })]);
  expect(results.map(({ kind }) => kind).sort()).toEqual(['GRANTED', 'REPEATED']);
  expect(await leases()).toBe(1);
});

test('who is granted a task hears of it, although another call of the same round cannot be served', async () => {
  const taskId = await newTask(store);
  const locked = await newTask(store);
  const held = await holdRow(sql, 'task_state', 'task_id', locked);
  const results = await Promise.allSettled([ask({ waitMs: 0 }), ask({ waitMs: 0 })]);
  await held.release();
  expect(results[0]).toMatchObject({ value: { kind: 'GRANTED', applied: { state: { taskId } } } });
  // There is a ready task, so that "nothing ready" would be wrong.
  expect(results[1]).toMatchObject({ status: 'rejected', reason: { name: 'Contention' } });
  expect(await leases()).toBe(1);
});
