import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Change } from '../../src/domain/change.js';
import { MINUTE, SECOND } from '../../src/domain/instant.js';
import { decideExpiry } from '../../src/domain/lease-end.js';
import type { TaskState } from '../../src/domain/task-state.js';
import { apply } from '../../src/store/apply.js';
import type { ChangeItem } from '../../src/store/change-item.js';
import { faultOf } from '../../src/store/database-error.js';
import { markEnded } from '../../src/store/executions.js';
import type { Store } from '../../src/store/store.js';
import { type MovableClock, stopClock } from '../support/clock.js';
import {
  ADA,
  acquire,
  everything,
  granted,
  look,
  newTask,
  openStores,
  PROJECT,
  type Stores,
} from './fixture.js';

let db: Stores;
let store: Store;
let clock: MovableClock;
let state: TaskState;
let now: number;

beforeAll(async () => {
  db = await openStores(2);
  store = db.stores[0];
  clock = await stopClock(db.url);
  return () => clock.close();
});

/** A task that is held, so that every part of a change has something to do. */
beforeEach(async () => {
  const taskId = await newTask(store, { externalKey: `key-${Math.random()}` });
  await acquire(store, taskId);
  ({ state, now } = await look(store, taskId));
});

const actor = { principal: 'ada', kind: 'AGENT', executionId: 'run-1' } as const;

/** A change that writes into every table: the end of the lease, content, result, note, event, request. */
function full(over: Partial<Change> = {}, requestId = `req-${Math.random()}`): ChangeItem {
  return {
    project: PROJECT,
    change: {
      taskId: state.taskId,
      expect: {
        leaseVersion: state.leaseVersion,
        depsVersion: state.depsVersion,
        contentVersion: state.contentVersion,
        ...(state.lease && { expiresAt: state.lease.expiresAt }),
      },
      notBefore: now,
      before: now + 1,
      status: 'DONE',
      expiriesInARow: 3,
      lease: { op: 'end', end: 'COMPLETED', by: 'ada' },
      content: { title: 'a new title', priority: 7, labels: ['x'] },
      closing: { result: 'the result', by: 'ada' },
      note: { id: `note-${Math.random()}`, author: 'ada', executionId: 'run-1', text: 'a note' },
      events: [{ kind: 'TASK_COMPLETED', actor, payload: { result: 'the result' } }],
      ...over,
    },
    request: { principal: 'ada', rpc: 'CompleteTask', requestId, bodyHash: '00', ref: state.taskId },
  };
}

const run = (item: ChangeItem) => apply(store.database.sql, [item], 'wait');

test('what still holds is applied in every part', async () => {
  const [result] = await run(full());
  expect(result).toMatchObject({
    kind: 'APPLIED',
    at: now,
    state: {
      status: 'DONE',
      lease: undefined,
      leaseVersion: state.leaseVersion + 1n,
      contentVersion: state.contentVersion + 1n,
      depsVersion: state.depsVersion,
      expiriesInARow: 3,
      noteCount: 1,
      previous: { id: state.lease?.id, end: 'COMPLETED', endedAt: now, fencingToken: 1n },
    },
  });
  const after = await look(store, state.taskId);
  expect(after.state).toEqual(result?.kind === 'APPLIED' && result.state);
  expect(after.task).toMatchObject({
    title: 'a new title',
    priority: 7,
    labels: ['x'],
    result: 'the result',
    closedBy: 'ada',
    closedAt: now,
    updatedAt: now,
  });
  const count = (table: string) =>
    db.sql`SELECT count(*)::int AS n FROM ${db.sql(table)} WHERE task_id = ${state.taskId}`;
  expect((await count('note'))[0]?.n).toBe(1);
  expect((await db.sql`SELECT ref FROM request WHERE ref = ${state.taskId}`).length).toBe(1);
  expect(await db.sql`SELECT "end", ended_by FROM lease WHERE task_id = ${state.taskId}`).toEqual([
    { end: 3, ended_by: 'ada' },
  ]);
  expect((await db.sql`SELECT at FROM event WHERE task_id = ${state.taskId} AND kind = 4`)[0]?.at).toBe(
    String(now),
  );
});

describe('what no longer holds is not applied in any part', () => {
  const rows: [string, () => Partial<Change>][] = [
    ['another lease_version', () => ({ expect: { leaseVersion: state.leaseVersion - 1n } })],
    [
      'another deps_version',
      () => ({ expect: { leaseVersion: state.leaseVersion, depsVersion: state.depsVersion + 1n } }),
    ],
    [
      'another content_version',
      () => ({ expect: { leaseVersion: state.leaseVersion, contentVersion: state.contentVersion + 1n } }),
    ],
    [
      'another deadline: it was renewed meanwhile',
      () => ({ expect: { leaseVersion: state.leaseVersion, expiresAt: (state.lease?.expiresAt ?? 0) - 1 } }),
    ],
    ['before its window', () => ({ notBefore: now + 1 })],
    ['at the end of its window', () => ({ before: now })],
    ['another task', () => ({ taskId: 'no-such-task' })],
  ];
  test.each(rows)('%s', async (_name, over) => {
    const before = await everything(db.sql);
    expect(await run(full(over()))).toEqual([{ kind: 'OVERTAKEN' }]);
    expect(await everything(db.sql)).toEqual(before);
  });

  test('another project’s task of the same id', async () => {
    const before = await everything(db.sql);
    expect(await run({ ...full(), project: 'elsewhere' })).toEqual([{ kind: 'OVERTAKEN' }]);
    expect(await everything(db.sql)).toEqual(before);
  });

  test.each(['ended', 'never heard of'])('a grant to an execution that was %s', async (how) => {
    const taskId = await newTask(store);
    ({ state, now } = await look(store, taskId));
    const holder = { principal: 'ada', executionId: `run-${Math.random()}` };
    if (how === 'ended') await markEnded(store, PROJECT, ADA, holder);
    const before = await everything(db.sql);
    const lease = { op: 'grant' as const, leaseId: 'l', holder, ttl: MINUTE, inheritAge: false, maxAge: 0 };
    expect(await run(full({ lease, status: 'IN_PROGRESS' }))).toEqual([{ kind: 'OVERTAKEN' }]);
    expect(await everything(db.sql)).toEqual(before);
  });

  test('the same request again: the whole statement is thrown back', async () => {
    const used = full({}, 'used');
    const other = await newTask(store);
    await run(used);
    ({ state, now } = await look(store, other));
    const before = await everything(db.sql);
    const { expiresAt: _, ...expected } = full().change.expect;
    const again = run(full({ lease: undefined as never, expect: expected }, 'used'));
    await expect(again.catch((error) => Promise.reject(faultOf(error)))).rejects.toBe('DUPLICATE');
    expect(await everything(db.sql)).toEqual(before);
  });
});

test('of a batch, each change is applied or not on its own, and answered in order', async () => {
  const others = await Promise.all([newTask(store), newTask(store)]);
  const items: ChangeItem[] = [];
  for (const [i, taskId] of others.entries()) {
    ({ state, now } = await look(store, taskId));
    items.push({
      project: PROJECT,
      change: {
        taskId,
        expect: { leaseVersion: state.leaseVersion + BigInt(i) },
        status: 'DROPPED',
        events: [{ kind: 'TASK_DROPPED', actor, payload: { reason: '', stillBlocked: [] } }],
      },
    });
  }
  const results = await apply(store.database.sql, items.toReversed(), 'wait');
  expect(results.map(({ kind }) => kind)).toEqual(['OVERTAKEN', 'APPLIED']);
  expect((await look(store, others[0] as string)).state.status).toBe('DROPPED');
  expect((await look(store, others[1] as string)).state.status).toBe('OPEN');
  const told = await db.sql`SELECT task_id FROM event WHERE kind = 5 AND task_id = ANY(${others})`;
  expect(told.map((row) => row.task_id)).toEqual([others[0]]);
});

test('of a batch, one new edge at a time relies on the graph: together they might close a cycle', async () => {
  const ids = await Promise.all([1, 2, 3, 4].map(() => newTask(store)));
  const [a, b, c, d] = (await Promise.all(ids.map((id) => look(store, id)))).map((read) => read.state);
  if (!a || !b || !c || !d) throw new Error('a task is missing');
  const [project] = await db.sql`SELECT graph_version FROM project WHERE id = ${PROJECT}`;
  const edge = (waiting: TaskState, blocker: TaskState): ChangeItem => ({
    project: PROJECT,
    change: {
      taskId: waiting.taskId,
      expect: { leaseVersion: waiting.leaseVersion, depsVersion: waiting.depsVersion },
      deps: { unmet: 1, blockers: 1 },
      edges: { add: [{ blockerId: blocker.taskId, acceptDropped: false }] },
      graphVersion: BigInt(project?.graph_version),
      events: [],
    },
    also: [
      {
        taskId: blocker.taskId,
        expect: { leaseVersion: blocker.leaseVersion, depsVersion: blocker.depsVersion },
        deps: { dependents: 1 },
        events: [],
      },
    ],
  });
  const results = await Promise.all([store.applySoon(edge(a, b)), store.applySoon(edge(c, d))]);
  expect(results.map(({ kind }) => kind).sort()).toEqual(['APPLIED', 'OVERTAKEN']);
});

describe('renewing', () => {
  const renewal = (ttl: number, maxAge = 0): ChangeItem => ({
    project: PROJECT,
    change: {
      taskId: state.taskId,
      expect: { leaseVersion: state.leaseVersion },
      before: state.lease?.expiresAt ?? 0,
      lease: { op: 'renew', ttl, maxAge },
      events: [],
    },
  });
  const deadline = async (item: ChangeItem) => {
    const [result] = await run(item);
    return result?.kind === 'APPLIED' ? (result.state?.lease?.expiresAt ?? 0) - now : result?.kind;
  };

  test('counts from the clock, moves no version', async () => {
    expect(await deadline(renewal(3 * MINUTE))).toBe(3 * MINUTE);
    expect((await look(store, state.taskId)).state.leaseVersion).toBe(state.leaseVersion);
  });
  test('never shortens', async () => {
    expect(await deadline(renewal(SECOND))).toBe(MINUTE);
  });
  test('never passes the age cap, nor shortens at it', async () => {
    expect(await deadline(renewal(30 * MINUTE, 2 * MINUTE))).toBe(2 * MINUTE);
    expect(await deadline(renewal(30 * MINUTE, 1))).toBe(2 * MINUTE);
  });
  test('at the deadline: not any more', async () => {
    const item = renewal(MINUTE);
    await clock.advance(MINUTE - 1);
    expect((await run(item))[0]?.kind).toBe('APPLIED');
    ({ state } = await look(store, state.taskId));
    const late = renewal(MINUTE);
    await clock.advance(MINUTE);
    expect(await run(late)).toEqual([{ kind: 'OVERTAKEN' }]);
  });
});

describe('the age of a regrant', () => {
  const grantAgain = async (inheritAge: boolean) => {
    const lease = {
      op: 'grant' as const,
      leaseId: `lease-${Math.random()}`,
      holder: { principal: 'ada', executionId: 'run-1' },
      ttl: 10 * MINUTE,
      inheritAge,
      maxAge: 5 * MINUTE,
    };
    await run(full({ status: 'OPEN', closing: 'reopened' }));
    await clock.advance(2 * MINUTE);
    const since = (await look(store, state.taskId)).state;
    const [result] = await run({
      project: PROJECT,
      change: {
        taskId: state.taskId,
        expect: { leaseVersion: since.leaseVersion },
        status: 'IN_PROGRESS',
        lease,
        events: [],
      },
    });
    return result?.kind === 'APPLIED' ? result : undefined;
  };

  test('is inherited with its cap, when the decision says so', async () => {
    const result = await grantAgain(true);
    expect(result?.state).toMatchObject({ agedFrom: now, fencingToken: 2n, attempt: 2 });
    expect(result?.state?.lease?.expiresAt).toBe(now + 5 * MINUTE);
  });
  test('else starts anew', async () => {
    const result = await grantAgain(false);
    expect(result?.state?.agedFrom).toBe(now + 2 * MINUTE);
    expect(result?.state?.lease?.expiresAt).toBe(now + 7 * MINUTE);
  });
});

test('an expiry whose last note would be cut inside a character is recorded all the same', async () => {
  const text = `${'x'.repeat(1022)}${'😀'.repeat(100)}`;
  await run({
    project: PROJECT,
    change: {
      taskId: state.taskId,
      expect: { leaseVersion: state.leaseVersion },
      note: { id: `note-${Math.random()}`, author: 'ada', executionId: 'run-1', text },
      events: [],
    },
  });
  await clock.advance(MINUTE);
  expect(await acquire(store, state.taskId)).toMatchObject({ kind: 'DONE', answer: { kind: 'GRANTED' } });
  const [event] =
    await db.sql`SELECT payload->>'lastNote' AS note FROM event WHERE task_id = ${state.taskId} AND kind = 18`;
  expect(event?.note).toBe(`${'x'.repeat(1022)}…`);
});

test('two recorders of one expiry: once', async () => {
  await clock.advance(MINUTE);
  const read = await look(store, state.taskId);
  const change = decideExpiry(read, read.state.lease ?? expect.fail(), undefined);
  const results = await Promise.all(
    [...Array(6).keys()].map((i) =>
      apply((db.stores[i % 2] ?? store).database.sql, [{ project: PROJECT, change }], 'wait'),
    ),
  );
  expect(results.flat().filter(({ kind }) => kind === 'APPLIED')).toHaveLength(1);
  const ends = await db.sql`SELECT 1 FROM event WHERE task_id = ${state.taskId} AND kind = 18`;
  expect(ends).toHaveLength(1);
});

describe('a row that somebody else has locked', () => {
  const lockRow = async () => {
    const session = await db.sql.reserve();
    await session`BEGIN`;
    await session`SELECT 1 FROM task_state WHERE task_id = ${state.taskId} FOR UPDATE`;
    return async () => {
      await session`ROLLBACK`;
      session.release();
    };
  };
  const waiting = () =>
    expect
      .poll(async () => {
        const [row] = await db.sql`
          SELECT count(*)::int AS n FROM pg_stat_activity
          WHERE datname = current_database() AND application_name = 'holdfast' AND wait_event_type = 'Lock'`;
        return row?.n;
      })
      .toBe(1);

  test('is passed over as busy, when the caller does not want to wait', async () => {
    const unlock = await lockRow();
    expect(await apply(store.database.sql, [full()], 'skip')).toEqual([{ kind: 'BUSY' }]);
    await unlock();
  });

  test('is waited for, and the clock is read after the wait: past the window, nothing is done', async () => {
    const before = await everything(db.sql);
    const unlock = await lockRow();
    const applying = run(full());
    await waiting();
    await clock.advance(1);
    await unlock();
    expect(await applying).toEqual([{ kind: 'OVERTAKEN' }]);
    expect(await everything(db.sql)).toEqual(before);
  });

  test('is waited for, and a grant counts from after the wait', async () => {
    const taskId = await newTask(store);
    ({ state, now } = await look(store, taskId));
    const unlock = await lockRow();
    const acquiring = acquire(store, taskId);
    await waiting();
    await clock.advance(20 * SECOND);
    await unlock();
    expect(granted(await acquiring)).toBe(true);
    const { lease } = (await look(store, taskId)).state;
    expect(lease).toMatchObject({ grantedAt: now + 20 * SECOND, expiresAt: now + 20 * SECOND + MINUTE });
  });
});
