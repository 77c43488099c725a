import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DAY, HOUR, MINUTE } from '../../src/domain/instant.js';
import { createHousekeeping } from '../../src/feed/housekeeping.js';
import { listHistory, numberEvents } from '../../src/store/history.js';
import { pruneHistory } from '../../src/store/retention.js';
import type { Store } from '../../src/store/store.js';
import { type MovableClock, stopClock } from '../support/clock.js';
import { meanwhile } from '../support/meanwhile.js';
import { untilWaiting } from '../support/row-lock.js';
import { newTask, openStores, PROJECT, type Stores } from './fixture.js';

const KEPT_FOR = 30 * DAY;

let db: Stores;
let store: Store;
let clock: MovableClock;
beforeEach(async () => {
  db = await openStores(4);
  store = db.stores[0];
  // With nothing in it: the project's creation was told by the real clock.
  await db.sql`DELETE FROM event`;
  clock = await stopClock(db.url);
});
afterEach(() => clock.close());

/** Events of one project, numbered; each so long after `first` as its place says. */
async function history(count: number, apart = 0, project = PROJECT) {
  const first = await clock.now();
  await db.sql`
    INSERT INTO event (project, kind, at, payload)
    SELECT ${project}, 10, ${first}::bigint + n * ${apart}::bigint, '{}' FROM generate_series(0, ${count - 1}::int) n`;
  while ((await numberEvents(store, 1_000)) > 0);
  return first;
}

const kept = async (project = PROJECT) =>
  (
    await db.sql`SELECT position::int AS p FROM event WHERE project = ${project} AND position IS NOT NULL ORDER BY position`
  ).map((row) => row.p as number);

const floorOf = async (project = PROJECT) =>
  (await db.sql`SELECT floor::int FROM history_head WHERE project = ${project}`)[0]?.floor as number;

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

async function pruneAll(from = store, batch = 1_000) {
  const counts: number[] = [];
  for (;;) {
    const { pruned, more } = await pruneHistory(from, KEPT_FOR, batch);
    if (!more) return counts;
    counts.push(pruned);
  }
}

/** Notes of every deleted event whether it had a position, and how old it was. */
async function noteDeletions() {
  await db.sql.unsafe(`
    CREATE TABLE deleted (position bigint, age bigint);
    CREATE FUNCTION note_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN INSERT INTO deleted VALUES (old.position, holdfast_now() - old.at); RETURN NULL; END $$;
    CREATE TRIGGER deletion AFTER DELETE ON event FOR EACH ROW EXECUTE FUNCTION note_deletion();`);
}

describe('pruning', () => {
  test('takes what is older than the history is kept, to the microsecond, and no more', async () => {
    await history(3, 1);
    await clock.advance(KEPT_FOR);
    expect(await pruneAll()).toEqual([]);
    expect([await kept(), await floorOf()]).toEqual([[1, 2, 3], 0]);
    await clock.advance(1);
    expect(await pruneAll()).toEqual([1]);
    expect([await kept(), await floorOf()]).toEqual([[2, 3], 1]);
    await clock.advance(1);
    expect(await pruneAll()).toEqual([1]);
    expect([await kept(), await floorOf()]).toEqual([[3], 2]);
  });

  test('goes a batch at a time, and remembers each', async () => {
    await history(10);
    await clock.advance(KEPT_FOR + 1);
    expect(await pruneHistory(store, KEPT_FOR, 4)).toEqual({ pruned: 4, more: true });
    expect([await kept(), await floorOf()]).toEqual([range(5, 10), 4]);
    expect(await pruneAll(store, 4)).toEqual([4, 2]);
    expect([await kept(), await floorOf()]).toEqual([[], 10]);
    await history(1);
    expect(await kept()).toEqual([11]);
  });

  test('leaves no hole: it stops at a young event, though older ones were numbered after it', async () => {
    const first = await history(4);
    await db.sql`UPDATE event SET at = ${first + HOUR} WHERE position = 3`;
    await clock.advance(KEPT_FOR + MINUTE);
    await pruneAll();
    expect([await kept(), await floorOf()]).toEqual([[3, 4], 2]);
    await clock.advance(HOUR);
    await pruneAll();
    expect([await kept(), await floorOf()]).toEqual([[], 4]);
  });

  test('leaves events without a position, however old', async () => {
    await history(2);
    await newTask(store);
    await clock.advance(KEPT_FOR + 1);
    await pruneAll();
    expect([await kept(), await floorOf()]).toEqual([[], 2]);
    await numberEvents(store, 1_000);
    expect(await kept()).toEqual([3, 4]);
    await pruneAll();
    expect([await kept(), await floorOf()]).toEqual([[], 4]);
  });

  test('is of each project for itself, and goes on over the gap that a restore leaves', async () => {
    await history(3);
    await history(5, 0, 'other');
    await db.sql`UPDATE history_head SET position = 1000 WHERE project = 'other'`;
    await history(1, 0, 'other');
    await clock.advance(HOUR);
    await history(2, 0, 'other');
    await clock.advance(KEPT_FOR - 1);
    await pruneAll(store, 4);
    expect([await kept(), await floorOf()]).toEqual([[], 3]);
    expect([await kept('other'), await floorOf('other')]).toEqual([[1002, 1003], 1001]);
  });

  test('by several replicas at once takes each event once', async () => {
    await history(400, 1);
    await history(300, 1, 'other');
    await noteDeletions();
    await clock.advance(KEPT_FOR + 250);
    const counts = await Promise.all(db.stores.map((from) => pruneAll(from, 7)));
    expect(counts.flat().reduce((sum, count) => sum + count, 0)).toBe(500);
    expect(await db.sql`SELECT 1 FROM deleted`).toHaveLength(500);
    expect([await floorOf(), await floorOf('other')]).toEqual([250, 250]);
    expect([await kept(), await kept('other')]).toEqual([range(251, 400), range(251, 300)]);
  });

  test('while others append takes no event that is young or has no position, and leaves no hole', async () => {
    await noteDeletions();
    let written = 0;
    const write = async (from: Store) => {
      for (let i = 0; i < 40; i++) {
        await newTask(from, { title: randomUUID() });
        written += 2;
        await clock.advance(4 * HOUR);
      }
    };
    const look = async () => {
      const [row] = await db.sql`
        SELECT h.floor::int, h.position::int AS head, count(e.position)::int AS kept, min(e.position)::int AS first
        FROM history_head h LEFT JOIN event e ON e.project = h.project AND e.position IS NOT NULL
        WHERE h.project = ${PROJECT} GROUP BY h.floor, h.position`;
      if (!row) return;
      expect([row.kept, row.kept && row.first]).toEqual([row.head - row.floor, row.kept && row.floor + 1]);
    };
    await meanwhile(
      [
        () => numberEvents(db.stores[2] as Store, 5),
        () => pruneHistory(db.stores[2] as Store, DAY, 3),
        () => pruneHistory(db.stores[3] as Store, DAY, 3),
        look,
      ],
      () => Promise.all([write(db.stores[0]), write(db.stores[1] as Store)]),
    );

    const [{ deleted, unnumbered, youngest } = {}] = await db.sql`
      SELECT count(*)::int AS deleted, count(*) FILTER (WHERE position IS NULL)::int AS unnumbered,
        min(age)::float8 AS youngest FROM deleted`;
    const [{ left } = {}] = await db.sql`SELECT count(*)::int AS left FROM event`;
    expect([deleted + left, unnumbered]).toEqual([written, 0]);
    expect(deleted).toBeGreaterThan(20);
    expect(youngest).toBeGreaterThan(DAY);
  });

  test('waits for whoever numbers or prunes this history, and then goes on from the floor that is there', async () => {
    await history(5);
    await clock.advance(KEPT_FOR + 1);
    const session = await db.sql.reserve();
    await session`BEGIN`;
    await session`DELETE FROM event WHERE position <= 2`;
    await session`UPDATE history_head SET floor = 2 WHERE project = ${PROJECT}`;
    const pruning = pruneHistory(store, KEPT_FOR, 2);
    await untilWaiting(db.sql, 1);
    await session`COMMIT`;
    session.release();
    expect(await pruning).toEqual({ pruned: 2, more: true });
    expect([await kept(), await floorOf()]).toEqual([[5], 4]);
  });
});

describe('housekeeping', () => {
  const shown = async () => (await listHistory(store, PROJECT, FILTER, undefined, 100)).events.length;
  const fail = (job: string, error: unknown) => expect.fail(`${job}: ${error}`);

  test('prunes by itself, all that is due', async () => {
    await history(2_500);
    await clock.advance(KEPT_FOR + 1);
    await history(1);
    const housekeeping = createHousekeeping(store, fail, KEPT_FOR, 5);
    await expect.poll(shown).toBe(1);
    expect(await floorOf()).toBe(2_500);
    await housekeeping.stop();
  });

  test('keeps everything for ever when told 0', async () => {
    await history(3);
    await clock.advance(10_000 * DAY);
    // The request that is forgotten tells that it has run.
    await db.sql`
      INSERT INTO request (project, principal, rpc, request_id, body_hash, ref, created_at)
      VALUES (${PROJECT}, 'ada', 'AddNote', 'r', '', 'n', 0)`;
    const housekeeping = createHousekeeping(store, fail, 0, 5);
    await expect.poll(async () => (await db.sql`SELECT 1 FROM request`).length).toBe(0);
    await housekeeping.stop();
    expect([await shown(), await floorOf()]).toEqual([3, 0]);
  });
});

const FILTER = {
  taskId: undefined,
  actor: undefined,
  executionId: undefined,
  kinds: [],
  since: undefined,
  until: undefined,
  newestFirst: false,
};
