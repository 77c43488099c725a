import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { decideNote } from '../../src/domain/content.js';
import { numberEvents } from '../../src/store/history.js';
import { mutate } from '../../src/store/mutate.js';
import type { Store } from '../../src/store/store.js';
import { meanwhile } from '../support/meanwhile.js';
import { connect } from '../support/postgres.js';
import { MIA, newTask, openStores, PROJECT, type Stores } from './fixture.js';

let db: Stores;
let store: Store;
beforeEach(async () => {
  db = await openStores(6);
  store = db.stores[0];
  await numberEvents(store, 1_000);
});

const note = (from: Store, taskId: string, text: string) =>
  mutate(from, {
    project: PROJECT,
    taskId,
    decide: (read) =>
      decideNote(
        read,
        MIA,
        { rpc: 'AddNote', proof: undefined, proofLeaseTaskId: undefined, overrideReason: undefined },
        { id: randomUUID(), author: 'mia', executionId: undefined, text },
      ),
  });

const positions = async (): Promise<number[]> =>
  (
    await db.sql`SELECT position::int AS p FROM event WHERE project = ${PROJECT} AND position IS NOT NULL ORDER BY position`
  ).map((row) => row.p as number);

const dense = (found: readonly number[]) => found.map((_, i) => i + 1);

test('positions are dense and rise with each task’s commits, while writers commit and several sequencers run', async () => {
  const tasks = await Promise.all(Array.from({ length: 4 }, () => newTask(store)));
  // A reader must never see a position above one that is still to come.
  const watch = async () => {
    const seen = await positions();
    expect(seen).toEqual(dense(seen));
  };
  const write = async (from: Store, writer: number) => {
    for (let i = 0; i < 25; i++) await note(from, tasks[(writer + i) % 4] as string, `${writer}/${i}`);
  };
  await meanwhile([watch, ...db.stores.slice(3).map((from) => () => numberEvents(from, 7))], () =>
    Promise.all(db.stores.flatMap((from, i) => [write(from, 2 * i), write(from, 2 * i + 1)])),
  );
  while ((await numberEvents(store, 1_000)) > 0);

  const all =
    await db.sql`SELECT id::int, position::int AS p, task_id, payload->>'text' AS text FROM event ORDER BY position`;
  expect(all.map((row) => row.p)).toEqual(dense(all.map((row) => row.p)));
  const texts = all.flatMap((row) => row.text ?? []);
  expect(texts).toHaveLength(12 * 25);
  for (const taskId of tasks) {
    const ids = all.filter((row) => row.task_id === taskId).map((row) => row.id);
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
  }
  // One writer's notes were committed one after another: nobody may read them in another order.
  for (let writer = 0; writer < 12; writer++) {
    const own = texts.filter((text) => text.startsWith(`${writer}/`));
    expect(own).toEqual(Array.from({ length: 25 }, (_, i) => `${writer}/${i}`));
  }
});

test('a long open transaction stalls nobody; its events come after those that were committed before', async () => {
  const taskId = await newTask(store);
  const session = await db.sql.reserve();
  await session`BEGIN`;
  await session`INSERT INTO event (project, kind, at, payload) VALUES (${PROJECT}, 26, holdfast_now(), '{"title": "slow", "changes": []}')`;
  await note(store, taskId, 'meanwhile');
  await numberEvents(store, 1_000);
  const before = await positions();
  const [newest] = await db.sql`SELECT payload->>'text' AS text FROM event WHERE position = ${before.length}`;
  expect(newest?.text).toBe('meanwhile');
  await session`COMMIT`;
  session.release();
  expect(await numberEvents(store, 1_000)).toBe(1);
  const [last] =
    await db.sql`SELECT payload->>'title' AS title FROM event WHERE position = ${before.length + 1}`;
  expect(last?.title).toBe('slow');
  expect(await positions()).toEqual(dense(await positions()));
});

test('what was rolled back leaves no gap', async () => {
  const session = await db.sql.reserve();
  await session`BEGIN`;
  await session`INSERT INTO event (project, kind, at, payload) VALUES (${PROJECT}, 26, 0, '{}')`;
  await session`ROLLBACK`;
  session.release();
  await newTask(store);
  await numberEvents(store, 1_000);
  expect(await positions()).toEqual(dense(await positions()));
});

test('each project counts for itself', async () => {
  await db.sql`INSERT INTO project (id, title, created_at) VALUES ('other', 'other', 0)`;
  await db.sql`INSERT INTO event (project, kind, at, payload) SELECT p, 26, 0, '{}' FROM unnest(ARRAY['other', ${PROJECT}, 'other']) p`;
  await numberEvents(store, 1_000);
  const others = await db.sql`SELECT position::int AS p FROM event WHERE project = 'other' ORDER BY id`;
  expect(others.map((row) => row.p)).toEqual([1, 2]);
  expect(await positions()).toEqual(dense(await positions()));
});

test('a batch is not exceeded, and says when there may be more', async () => {
  await Promise.all(Array.from({ length: 3 }, () => newTask(store)));
  const numbered = [await numberEvents(store, 4), await numberEvents(store, 4), await numberEvents(store, 4)];
  expect(numbered).toEqual([4, 2, 0]);
});

test('listeners are told once for a batch, and not when there was nothing', async () => {
  const listener = connect(db.url, { max: 1 });
  const heard: string[] = [];
  await listener.listen('holdfast_history', (payload) => heard.push(payload));
  await newTask(store);
  await numberEvents(store, 1_000);
  await numberEvents(store, 1_000);
  await db.sql.notify('holdfast_history', 'the end');
  await expect.poll(() => heard.at(-1)).toBe('the end');
  expect(heard).toHaveLength(2);
  await listener.end();
});
