import { beforeEach, describe, expect, test } from 'vitest';
import { decideNote } from '../../src/domain/content.js';
import type { EventDraft, EventPayloads } from '../../src/domain/event.js';
import { MINUTE, SECOND } from '../../src/domain/instant.js';
import { recordEvent } from '../../src/store/events.js';
import { mutate } from '../../src/store/mutate.js';
import type { Store } from '../../src/store/store.js';
import { type MovableClock, stopClock } from '../support/clock.js';
import { ADA, newTask, openStores, PROJECT, type Stores } from './fixture.js';

let db: Stores;
let store: Store;
let clock: MovableClock;
let taskId: string;

beforeEach(async () => {
  db = await openStores(3);
  store = db.stores[0];
  // At the beginning of a minute.
  clock = await stopClock(db.url, 30_000_000 * MINUTE);
  taskId = await newTask(store);
  return () => clock.close();
});

function rejected(payload: Partial<EventPayloads['WRITE_REJECTED']> = {}, principal = 'ada'): EventDraft {
  const full = { rpc: 'CompleteTask', code: 'STALE_LOCK' as const, ...payload };
  return {
    kind: 'WRITE_REJECTED',
    actor: { principal, kind: 'AGENT', executionId: 'run-1' },
    payload: full,
    oncePerMinute: ['WRITE_REJECTED', taskId, principal, full.code, full.rpc].join('\u0001'),
  };
}

const record = (draft: EventDraft, from = store) => recordEvent(from, PROJECT, taskId, 3n, draft);

const entries = async () =>
  (
    await db.sql`
      SELECT actor, repeats, payload->>'code' AS code, payload->>'keptResult' AS kept, at::text FROM event
      WHERE kind IN (21, 22) ORDER BY id`
  ).map(({ actor, repeats, code, kept }) => ({ actor, repeats, code, kept }));

const entry = (over: object = {}) => ({ actor: 'ada', repeats: 0, code: 'STALE_LOCK', kept: null, ...over });

describe('a refusal', () => {
  test('is listed once a minute, and counted until the minute is over', async () => {
    await record(rejected());
    await clock.advance(MINUTE - 1);
    await record(rejected());
    await record(rejected());
    expect(await entries()).toEqual([entry({ repeats: 2 })]);
    await clock.advance(1);
    await record(rejected());
    expect(await entries()).toEqual([entry({ repeats: 2 }), entry()]);
  });

  test('of another principal, code or RPC is listed apart', async () => {
    await record(rejected());
    await record(rejected({}, 'bob'));
    await record(rejected({ code: 'LOCK_EXPIRED' }));
    await record(rejected({ rpc: 'AddNote' }));
    expect(await entries()).toHaveLength(4);
  });

  test('from many at once, on every replica: one entry, all counted', async () => {
    await Promise.all(db.stores.flatMap((from) => Array.from({ length: 5 }, () => record(rejected(), from))));
    expect(await entries()).toEqual([entry({ repeats: 14 })]);
  });
});

describe('the work that a refused completion carried', () => {
  const late = (proofToken: string, keptResult: string) => rejected({ proofToken, keptResult });

  test('is kept once for each lease, however often it is sent', async () => {
    await record(late('1', 'the work'));
    await record(late('1', 'the work'));
    await clock.advance(5 * MINUTE);
    await record(late('1', 'the work'));
    expect(await entries()).toEqual([entry({ kept: 'the work' }), entry(), entry()]);
  });

  test('of two leases within a minute is kept for both', async () => {
    await record(late('1', 'the work of one'));
    await record(late('2', 'the work of another'));
    expect((await entries()).map(({ kept }) => kept)).toEqual(['the work of one', 'the work of another']);
  });

  test('is kept although the minute’s entry is there already', async () => {
    await record(rejected());
    await record(late('1', 'the work'));
    expect((await entries()).map(({ kept }) => kept)).toEqual([null, 'the work']);
  });

  test('from many at once: one entry keeps it', async () => {
    await Promise.all(
      db.stores.flatMap((from) => Array.from({ length: 4 }, () => record(late('1', 'work'), from))),
    );
    expect((await entries()).filter(({ kept }) => kept === 'work')).toHaveLength(1);
  });
});

test('a warning is written with the write that it warns of, once a minute', async () => {
  const write = (text: string) =>
    mutate(store, {
      project: PROJECT,
      taskId,
      decide: (read) =>
        decideNote(
          read,
          ADA,
          { rpc: 'AddNote', proof: undefined, proofLeaseTaskId: undefined, overrideReason: undefined },
          { id: text, author: 'ada', executionId: 'run-1', text },
        ),
    });
  for (const text of ['one', 'two', 'three']) await write(text);
  await clock.advance(MINUTE + SECOND);
  await write('four');
  const warned = entry({ code: 'LOCK_REQUIRED' });
  expect(await entries()).toEqual([{ ...warned, repeats: 2 }, warned]);
  expect(await db.sql`SELECT 1 FROM note`).toHaveLength(4);
});
