import { beforeAll, expect, test } from 'vitest';
import type { ChangeItem } from '../../src/store/change-item.js';
import { Contention } from '../../src/store/database-error.js';
import { renewExecution } from '../../src/store/renew-execution.js';
import type { Store } from '../../src/store/store.js';
import { acquire, look, newTask, openStores, PROJECT } from './fixture.js';

let store: Store;
beforeAll(async () => {
  const db = await openStores();
  store = db.stores[0];
});

const HOLDER = { principal: 'ada', executionId: 'run-1' };

/** A store in which somebody else is faster with one task, so many times. */
function overtakenOn(taskId: string, times: number): Store {
  let left = times;
  return {
    ...store,
    applyWaiting: async (items: readonly ChangeItem[]) => {
      const isFaster = items.some(({ change }) => change.taskId === taskId) && left-- > 0;
      const ours = isFaster ? items.filter(({ change }) => change.taskId !== taskId) : items;
      const results = ours.length > 0 ? [...(await store.applyWaiting(ours))] : [];
      return items.map((item) =>
        ours.includes(item) ? (results.shift() ?? { kind: 'OVERTAKEN' }) : { kind: 'OVERTAKEN' },
      );
    },
  };
}

async function held(): Promise<string> {
  const taskId = await newTask(store);
  await acquire(store, taskId);
  return taskId;
}

test('a lease with which others are faster is renewed with another try', async () => {
  const [first, second] = [await held(), await held()];
  const renewed = await renewExecution(overtakenOn(second, 3), PROJECT, HOLDER, undefined);
  expect(renewed.map(({ state }) => state?.taskId).toSorted()).toEqual([first, second].toSorted());
});

test('a live lease is never passed over in silence: who holds it is told to ask again', async () => {
  const [first, second] = [await held(), await held()];
  const before = (await look(store, first)).state.lease?.expiresAt ?? 0;
  await expect(renewExecution(overtakenOn(second, 100), PROJECT, HOLDER, undefined)).rejects.toThrow(
    Contention,
  );
  const { lease } = (await look(store, first)).state;
  expect(lease?.expiresAt).toBeGreaterThan(before);
});
