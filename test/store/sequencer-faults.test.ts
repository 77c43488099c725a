import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createSequencer } from '../../src/feed/sequencer.js';
import { untilWaiting } from '../support/row-lock.js';
import { openStores } from './fixture.js';

/** Another session holds what the sequencer needs; commits ask for positions all the while. */
async function heldUp() {
  const { stores, sql } = await openStores();
  const faults: unknown[] = [];
  const sequencer = createSequencer(stores[0], (_, error) => faults.push(error));
  const session = await sql.reserve();
  await session`SELECT pg_advisory_lock(hashtextextended('holdfast.sequencer', 0))`;
  sequencer.request();
  await untilWaiting(sql, 1);
  for (let commits = 0; commits < 20; commits++) {
    sequencer.request();
    await sleep(25);
  }
  const letGo = async () => {
    await session`SELECT pg_advisory_unlock(hashtextextended('holdfast.sequencer', 0))`;
    session.release();
  };
  return { sequencer, faults, sql, store: stores[0], letGo };
}

test('a failed attempt is told once, however many commits waited for it', async () => {
  const { sequencer, faults, sql, letGo } = await heldUp();
  await sql`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'holdfast' AND wait_event_type = 'Lock'`;
  await expect.poll(() => faults.length, { timeout: 10_000 }).toBeGreaterThan(0);
  await letGo();
  await sequencer.catchUp();
  await sequencer.stop();
  // The one that was under way, and perhaps the next, on the connection that it left behind.
  expect(faults.length).toBeLessThanOrEqual(2);
});

test('a pool that is closed when the server stops is no fault, and is not asked again', async () => {
  const { sequencer, faults, store, letGo } = await heldUp();
  const stopped = sequencer.stop();
  await store.database.close();
  await stopped;
  expect(faults).toEqual([]);
  await letGo();
});
