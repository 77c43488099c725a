import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DAY, MINUTE, SECOND } from '../../src/domain/instant.js';
import { openDatabase } from '../../src/store/database.js';
import { numberEvents } from '../../src/store/history.js';
import { beginNewEpoch, DatabaseInUse, requireUnused } from '../../src/store/new-epoch.js';
import { type MovableClock, stopClock } from '../support/clock.js';
import { brokenRules } from '../support/history-audit.js';
import { createTestDatabase } from '../support/postgres.js';
import { DEFAULT_SETTINGS } from '../support/service.js';
import { acquire, everything, look, newTask, openStores, PROJECT, type Stores } from './fixture.js';

let db: Stores;
let clock: MovableClock;
beforeEach(async () => {
  db = await openStores();
  clock = await stopClock(db.url);
});
afterEach(() => clock.close());

const begin = () => beginNewEpoch(db.url, DEFAULT_SETTINGS);
const number = () => numberEvents(db.stores[0], 1_000);

const whole = async () => ({
  ...(await everything(db.sql)),
  meta: [...(await db.sql`SELECT * FROM meta`)],
  heads: [...(await db.sql`SELECT * FROM history_head ORDER BY project`)],
});

/** Ends the session of whoever is between two statements of a transaction. */
const killIdle = () => db.sql`
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND state = 'idle in transaction'`;

const eventsAfter = (position: number) =>
  db.sql`SELECT position::int8, kind, task_id, fencing_token::int AS token, actor, payload FROM event WHERE position > ${position} ORDER BY position`;

describe('a new epoch', () => {
  test('ends every lease once, tells it, and makes tokens and positions jump', async () => {
    const [store] = db.stores;
    const [live, lapsed, free] = [await newTask(store), await newTask(store), await newTask(store)];
    await acquire(store, lapsed, { ttl: MINUTE });
    await clock.advance(SECOND);
    await acquire(store, live, { ttl: DAY });
    await clock.advance(MINUTE);
    await number();
    const [head] = await db.sql`SELECT position::int AS p FROM history_head WHERE project = ${PROJECT}`;
    const [before] = await db.sql`SELECT epoch FROM meta`;

    const done = await begin();
    expect(done).toEqual({
      epoch: expect.stringMatching(/^[0-9a-f-]{36}$/),
      previousEpoch: before?.epoch,
      countersFrom: BigInt(await clock.now()),
      projects: 1,
      tasks: 3,
      keys: 0,
      revoked: 1,
      expired: 1,
    });
    expect(done.epoch).not.toBe(done.previousEpoch);
    for (const taskId of [live, lapsed, free]) {
      expect((await look(store, taskId)).state).toMatchObject({
        status: 'OPEN',
        lease: undefined,
        fencingToken: done.countersFrom,
      });
    }

    await number();
    const told = await eventsAfter(head?.p);
    expect(told.map((row) => row.position)).toEqual(
      told.map((_, i) => String(done.countersFrom + BigInt(i) + 1n)),
    );
    const ends = [
      [live, 19, 1],
      [live, 3, 1],
      [lapsed, 18, 1],
      [lapsed, 3, 1],
    ].toSorted(([a], [b]) => (a === b ? 0 : `${a}` < `${b}` ? -1 : 1));
    expect(told.map(({ task_id, kind, token }) => [task_id, kind, token])).toEqual([
      ...ends,
      [null, 26, null],
    ]);
    expect(told.at(-1)).toMatchObject({
      actor: null,
      payload: {
        title: PROJECT,
        changes: [{ field: 'epoch', before: done.previousEpoch, after: done.epoch }],
      },
    });
    const leases = await db.sql`SELECT task_id, "end", ended_by FROM lease ORDER BY granted_at`;
    expect([...leases]).toEqual([
      { task_id: lapsed, end: 4, ended_by: null },
      { task_id: live, end: 5, ended_by: 'new-epoch' },
    ]);
    // All that holds of leases and history still does, but for what is made to jump.
    expect((await brokenRules(db.url)).map((line) => line.replace(/:.*/, ''))).toEqual([
      'the row of a task agrees with its leases',
      'positions are dense in each project',
    ]);
  });

  test('is above the one before, also when the clock has gone back', async () => {
    await newTask(db.stores[0], { externalKey: 'key' });
    const first = await begin();
    await clock.advance(-DAY);
    const second = await begin();
    expect(second.countersFrom).toBeGreaterThan(first.countersFrom);
    expect(second.previousEpoch).toBe(first.epoch);
    await number();
    const positions = (await eventsAfter(Number(first.countersFrom))).map((row) => BigInt(row.position));
    expect(positions.filter((position) => position > second.countersFrom).length).toBeGreaterThan(0);
    const [fence] = await db.sql`SELECT fencing_token FROM fence`;
    expect(BigInt(fence?.fencing_token)).toBeGreaterThanOrEqual(second.countersFrom);
  });

  test('is there as a whole or not at all', async () => {
    const [store] = db.stores;
    await acquire(store, await newTask(store, { externalKey: 'key' }));
    await db.sql.unsafe(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
      CREATE TRIGGER refusal BEFORE UPDATE ON fence FOR EACH ROW EXECUTE FUNCTION refuse();`);
    const before = await whole();
    await expect(begin()).rejects.toThrow('refused');
    expect(await whole()).toEqual(before);
    await db.sql`DROP TRIGGER refusal ON fence`;
    expect(await begin()).toMatchObject({ revoked: 1 });
  });

  test('does not begin by half when its connection dies at any moment', async () => {
    const [store] = db.stores;
    const tasks = [];
    for (let i = 0; i < 5; i++) tasks.push(await newTask(store));
    await number();
    for (let round = 0; round < 8; round++) {
      for (const taskId of tasks) await acquire(store, taskId, { ttl: DAY });
      const before = await whole();
      let outcome = '';
      const ended = begin().then(
        () => (outcome = 'begun'),
        () => (outcome = 'failed'),
      );
      await sleep(2 * 1.7 ** round);
      let killed = 0;
      while (!outcome && killed === 0) killed = (await killIdle()).length;
      await ended;
      const after = await whole();
      const same = after.meta[0]?.epoch === before.meta[0]?.epoch;
      if (outcome === 'begun') expect(same).toBe(false);
      const headOf = ({ heads }: typeof after) => BigInt(heads[0]?.position ?? 0);
      if (same) expect(headOf(after)).toBe(headOf(before));
      else expect(headOf(after)).toBeGreaterThan(headOf(before) + 1_000n);
      for (const taskId of tasks) {
        const { state } = await look(store, taskId);
        if (same) expect(state.fencingToken).toBeLessThan(BigInt(after.meta[0]?.counters_from) + 1_000n);
        else
          expect([state.lease, state.fencingToken >= BigInt(after.meta[0]?.counters_from)]).toEqual([
            undefined,
            true,
          ]);
      }
    }
    expect(await begin()).toMatchObject({ tasks: 5 });
  });
});

test('a database that a server uses is told from one that none does', async () => {
  const { url } = await createTestDatabase();
  await requireUnused(url);
  const server = openDatabase({ url, poolSize: 1 });
  await server.sql`SELECT 1`;
  await expect(requireUnused(url)).rejects.toThrow(DatabaseInUse);
  await server.close();
  await requireUnused(url);
});
