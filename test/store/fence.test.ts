import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { decideRelease } from '../../src/domain/lease-end.js';
import { decideDelete } from '../../src/domain/transitions.js';
import { Contention, constraintOf, faultOf } from '../../src/store/database-error.js';
import { mutate } from '../../src/store/mutate.js';
import type { Store } from '../../src/store/store.js';
import { findTask } from '../../src/store/tasks.js';
import { meanwhile } from '../support/meanwhile.js';
import { ADA, acquire, granted, look, MIA, newTask, openStores, PROJECT, type Stores } from './fixture.js';

let db: Stores;
let store: Store;
beforeAll(async () => {
  db = await openStores(5);
  store = db.stores[0];
});

/** As a person does it in WARN, whoever holds the task. */
const remove = (from: Store, taskId: string) =>
  mutate(from, {
    project: PROJECT,
    taskId,
    decide: (read) =>
      decideDelete(
        read,
        MIA,
        { rpc: 'DeleteTask', proof: undefined, proofLeaseTaskId: undefined, overrideReason: undefined },
        read.task,
      ),
  });

async function release(from: Store, taskId: string, who = ADA): Promise<void> {
  const { found } = await from.read({ project: PROJECT, taskId });
  const lease = found?.state.lease;
  if (!found || !lease) return;
  await mutate(from, {
    project: PROJECT,
    along: { leaseId: lease.id },
    decide: (read) =>
      decideRelease(read, read.namedLease, who, { fencingToken: found.state.fencingToken, note: undefined }),
  });
}

/** Tries again as long as others are in the way. */
async function insistently<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Contention)) throw error;
    }
  }
}

/** The tokens of all grants there ever were on tasks with a key, in the order of the grants. */
const tokensOf = async (externalKey: string) =>
  (
    await db.sql`
      SELECT g.fencing_token::int AS token FROM event c JOIN event g ON g.task_id = c.task_id AND g.kind IN (15, 16)
      WHERE c.kind = 1 AND c.payload->>'externalKey' = ${externalKey} ORDER BY g.id`
  ).map((row) => row.token as number);

describe('the fencing counter', () => {
  test('goes on where it stopped when a task is created again under its external key', async () => {
    for (let life = 0; life < 3; life++) {
      const taskId = await newTask(store, { externalKey: 'again' });
      expect((await look(store, taskId)).state).toMatchObject({ fencingToken: BigInt(life * 2), attempt: 0 });
      for (let i = 0; i < 2; i++) {
        await acquire(store, taskId);
        await release(store, taskId);
      }
      expect(await remove(store, taskId)).toMatchObject({ kind: 'DONE' });
    }
    expect(await tokensOf('again')).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('counts a lease under which the task was deleted', async () => {
    const taskId = await newTask(store, { externalKey: 'under' });
    await acquire(store, taskId);
    await remove(store, taskId);
    const next = await newTask(store, { externalKey: 'under' });
    expect((await look(store, next)).state).toMatchObject({ fencingToken: 1n, previous: undefined });
  });

  test('is apart for each key, and without a key starts from 1', async () => {
    const tasks = await Promise.all([
      newTask(store, { externalKey: 'other' }),
      newTask(store),
      newTask(store),
    ]);
    for (const taskId of tasks) {
      await acquire(store, taskId);
      expect((await look(store, taskId)).state.fencingToken).toBe(1n);
    }
  });

  test('never repeats or skips while others delete, create and acquire at the same moment', async () => {
    const externalKey = `contested-${randomUUID()}`;
    await newTask(store, { externalKey });
    let lives = 1;
    const currentId = async (from: Store) => (await findTask(from, PROJECT, { externalKey }))?.task.id;

    const recreate = async (from: Store) => {
      for (let i = 0; i < 12; i++) {
        const taskId = await currentId(from);
        if (taskId !== undefined) await insistently(() => remove(from, taskId));
        await newTask(from, { externalKey }).then(
          () => lives++,
          (error) => expect(faultOf(error)).toMatch(/^(DUPLICATE|CONTENDED)$/),
        );
        await sleep(2);
      }
    };
    let grants = 0;
    const work = async (from: Store, i: number) => {
      const who = { ...ADA, executionId: `run-${i}` };
      const taskId = await currentId(from);
      if (taskId === undefined) return;
      if (granted(await insistently(() => acquire(from, taskId, { who })))) grants++;
      await insistently(() => release(from, taskId, who));
    };
    await meanwhile(
      db.stores.slice(2).map((from, i) => () => work(from, i)),
      () => Promise.all(db.stores.slice(0, 2).map(recreate)),
    );

    const tokens = await tokensOf(externalKey);
    expect(lives).toBeGreaterThan(1);
    expect(tokens.length).toBe(grants);
    expect(tokens).toEqual(tokens.map((_, i) => i + 1));
  });
});

test('two creations under one key: one task', async () => {
  const results = await Promise.allSettled(db.stores.map((from) => newTask(from, { externalKey: 'one' })));
  const failed = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  expect(failed.map(constraintOf)).toEqual(Array(4).fill('task_external_key'));
});

test('two deletions: one deletes, the other finds nothing', async () => {
  const taskId = await newTask(store, { externalKey: 'gone' });
  const outcomes = await Promise.all(db.stores.map((from) => remove(from, taskId)));
  expect(outcomes.filter(({ kind }) => kind === 'DONE')).toHaveLength(1);
  expect(outcomes.filter((o) => o.kind === 'PROBLEM' && o.problem.kind === 'NOT_FOUND')).toHaveLength(4);
  expect(await db.sql`SELECT 1 FROM event WHERE task_id = ${taskId} AND kind = 9`).toHaveLength(1);
});
