import { LeaseState } from '@holdfast/proto/guard';
import { RefusalReason } from '@holdfast/proto/lease';
import { type Task, TaskStatus } from '@holdfast/proto/task';
import type { Sql } from 'postgres';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { MINUTE } from '../../src/domain/instant.js';
import { type Board, hold, startBoard } from '../rpc/board.js';
import { refused } from '../rpc/refused.js';
import { type MovableClock, stopClock } from '../support/clock.js';
import { connect } from '../support/postgres.js';
import { brokenQueueRules, watchQueue } from './queue-rules.js';

let board: Board;
let clock: MovableClock;
let sql: Sql;

beforeAll(async () => {
  board = await startBoard({ withFeed: false });
  clock = await stopClock(board.service.databaseUrl);
  sql = connect(board.service.databaseUrl, { max: 1 });
  await watchQueue(sql);
});
afterAll(async () => {
  await clock.close();
  await sql.end();
});
afterEach(async () => expect(await brokenQueueRules(sql)).toEqual([]));

async function newTask(
  title: string,
  wanted: { blockedBy?: string[]; parentId?: string; labels?: string[] } = {},
): Promise<Task> {
  const { task } = await board.member.tasks.createTask({ title, ...wanted });
  if (!task) throw new Error('no task was made');
  return task;
}

async function ready(): Promise<string[]> {
  const { tasks } = await board.member.tasks.listReadyTasks({});
  return tasks.map(({ id }) => id);
}

/** What an acquire by id says. */
async function acquire(taskId: string) {
  const { outcome } = await board.agent.leases.acquireLease({ taskId, executionId: 'ada-run' });
  return outcome;
}

test('after five expiries in a row a task is quarantined, until a person requeues it', async () => {
  const { id } = await newTask('deadly');
  for (let n = 0; n < 5; n++) {
    expect(await ready()).toContain(id);
    await hold(board.agent, id, 30);
    await clock.advance(MINUTE);
  }
  expect(await acquire(id)).toMatchObject({
    case: 'refusal',
    value: { reason: RefusalReason.TASK_CLOSED, taskStatus: TaskStatus.QUARANTINED },
  });
  expect(await ready()).not.toContain(id);
  const kinds = await sql`SELECT kind FROM event WHERE task_id = ${id} AND kind IN (7, 18) ORDER BY id`;
  expect(kinds.map(({ kind }) => kind)).toEqual([18, 18, 18, 18, 18, 7]);
  // It does not satisfy those who wait for it.
  const waits = await newTask('waits', { blockedBy: [id] });
  expect(waits.unmetDependencies).toBe(1);
  expect((await refused(board.agent.tasks.requeueTask({ taskId: id, reason: 'mine' }))).code).toMatch(
    /PermissionDenied|FailedPrecondition/,
  );
  await board.member.tasks.requeueTask({ taskId: id, reason: 'it was the network' });
  expect(await ready()).toContain(id);
  await hold(board.agent, id);
  const { task } = await board.member.tasks.getTask({ taskId: id });
  expect(task).toMatchObject({ attempt: 6, expiriesInARow: 0 });
});

test('a grant tells what the one before left: note, author, attempt, end, and results of the dependencies', async () => {
  const blockers = await Promise.all(['a', 'b', 'c'].map((title) => newTask(title)));
  for (const [i, { id }] of blockers.entries()) {
    await clock.advance(1);
    await board.member.tasks.completeTask({ taskId: id, result: String.fromCharCode(97 + i).repeat(4_000) });
  }
  const { id } = await newTask('long', { blockedBy: blockers.map((blocker) => blocker.id) });
  const proof = await hold(board.rival, id, 30);
  await board.rival.tasks.addNote({ taskId: id, text: 'half of it is done', executionId: 'rob-run', proof });
  await clock.advance(MINUTE);
  const outcome = await acquire(id);
  if (outcome.case !== 'grant') throw new Error('refused');
  const { continuation } = outcome.value;
  expect(continuation).toMatchObject({
    attempt: 2,
    previousHolder: { principal: 'rob', executionId: 'rob-run' },
    previousEnd: LeaseState.EXPIRED,
    notes: [{ text: 'half of it is done', author: 'rob', executionId: 'rob-run' }],
  });
  const results = continuation?.dependencyResults ?? [];
  expect(results.map(({ title, truncated }) => [title, truncated])).toEqual([
    ['c', false],
    ['b', false],
    ['a', true],
  ]);
  const bytes = results.reduce((sum, { result }) => sum + Buffer.byteLength(result), 0);
  expect(bytes).toBeGreaterThan(8_000);
  expect(bytes).toBeLessThanOrEqual(8 * 1024);
});

test('a parent is ready as soon as its last sub-task is closed, also by dropping it', async () => {
  const parent = await newTask('parent');
  expect(await ready()).toContain(parent.id);
  const [one, two] = [
    await newTask('one', { parentId: parent.id }),
    await newTask('two', { parentId: parent.id }),
  ];
  expect(await ready()).not.toContain(parent.id);
  expect(await acquire(parent.id)).toMatchObject({ value: { reason: RefusalReason.DEPENDENCIES_UNMET } });
  expect((await board.member.tasks.completeTask({ taskId: one.id })).becameReady).toEqual([]);
  const { becameReady, stillBlocked } = await board.member.tasks.dropTask({
    taskId: two.id,
    reason: 'no need',
  });
  expect({ becameReady, stillBlocked }).toEqual({ becameReady: [parent.id], stillBlocked: [] });
  expect(await ready()).toContain(parent.id);
  // The edge of a sub-task is not to be removed by itself.
  const cut = board.member.tasks.removeDependency({ taskId: parent.id, blockedBy: one.id });
  expect((await refused(cut)).text).toMatch(/always waits for its sub-tasks/);
  await board.member.tasks.completeTask({ taskId: parent.id });
  expect((await refused(newTask('late', { parentId: parent.id }))).text).toMatch(/reopen it before/);
});

test('"A waits for B": closing B makes A ready, and the history says so', async () => {
  const b = await newTask('B');
  const a = await newTask('A', { blockedBy: [b.id] });
  expect(await ready()).toContain(b.id);
  expect(await ready()).not.toContain(a.id);
  expect((await board.member.tasks.completeTask({ taskId: b.id })).becameReady).toEqual([a.id]);
  expect(await ready()).toContain(a.id);
  expect(await ready()).not.toContain(b.id);
  const told = await sql`SELECT payload->>'cause' AS cause FROM event WHERE task_id = ${a.id} AND kind = 3`;
  expect(told.map(({ cause }) => cause)).toEqual(['DEPENDENCY_MET']);
});

test('unmet dependencies are named by acquire, complete, reopen and get', async () => {
  const blocker = await newTask('blocker');
  const task = await newTask('blocked', { blockedBy: [blocker.id] });
  const unmet = [{ taskId: blocker.id, title: 'blocker', status: TaskStatus.OPEN }];
  expect(await acquire(task.id)).toMatchObject({ case: 'refusal', value: { unmetDependencies: unmet } });
  const complete = await refused(board.member.tasks.completeTask({ taskId: task.id }));
  expect(complete).toMatchObject({ code: 'FailedPrecondition', text: expect.stringContaining('blocker') });
  expect((await board.member.tasks.getTask({ taskId: task.id })).unmetDependencies).toMatchObject(unmet);
  await board.member.tasks.dropTask({ taskId: task.id, reason: 'not now' });
  const reopened = await board.member.tasks.reopenTask({ taskId: task.id, reason: 'now' });
  expect(reopened.unmetDependencies).toMatchObject(unmet);
  expect(await ready()).not.toContain(task.id);
});

test('DROPPED satisfies only an edge that accepts it; reopening blocks again', async () => {
  const blocker = await newTask('blocker');
  const strict = await newTask('strict', { blockedBy: [blocker.id] });
  const lenient = await newTask('lenient');
  await board.member.tasks.addDependency({ taskId: lenient.id, blockedBy: blocker.id, acceptDropped: true });
  const dropped = await board.member.tasks.dropTask({ taskId: blocker.id, reason: 'no need' });
  expect(dropped).toMatchObject({ stillBlocked: [strict.id], becameReady: [lenient.id] });
  const again = await board.member.tasks.reopenTask({ taskId: blocker.id, reason: 'after all' });
  expect(again.blockedAgain).toEqual([lenient.id]);
  expect(await ready()).not.toContain(lenient.id);
});

test('a leased task whose dependency is reopened keeps its lease, and its renewal says what is unmet', async () => {
  const blocker = await newTask('blocker');
  await board.member.tasks.completeTask({ taskId: blocker.id });
  const task = await newTask('under way', { blockedBy: [blocker.id] });
  const held = await hold(board.agent, task.id);
  await board.member.tasks.reopenTask({ taskId: blocker.id, reason: 'wrong' });
  const { dependenciesUnmet } = await board.agent.leases.renewLease(held);
  expect(dependenciesUnmet).toMatchObject([{ taskId: blocker.id }]);
  await board.agent.leases.releaseLease(held);
  expect(await ready()).not.toContain(task.id);
});

test('a task that others wait for is deleted only with detach, which names them', async () => {
  const blocker = await newTask('blocker');
  const task = await newTask('waits', { blockedBy: [blocker.id] });
  const refusal = await refused(board.member.tasks.deleteTask({ taskId: blocker.id }));
  expect(refusal).toMatchObject({ code: 'FailedPrecondition', text: expect.stringContaining(task.id) });
  const { detached } = await board.member.tasks.deleteTask({ taskId: blocker.id, detach: true });
  expect(detached).toEqual([task.id]);
  expect(await ready()).toContain(task.id);
  const told = await sql`SELECT kind FROM event WHERE task_id = ${task.id} ORDER BY id`;
  expect(told.map(({ kind }) => kind)).toEqual([1, 12, 3]);
});

test('a cycle is refused with the way around, and so are itself and the unknown', async () => {
  const a = await newTask('a');
  const b = await newTask('b', { blockedBy: [a.id] });
  const c = await newTask('c', { blockedBy: [b.id] });
  const cycle = await refused(board.member.tasks.addDependency({ taskId: a.id, blockedBy: c.id }));
  expect(cycle.code).toBe('FailedPrecondition');
  expect(cycle.text).toContain(`${c.id} waits for ${b.id} waits for ${a.id} waits for ${c.id}`);
  // Through a parent, too: it would wait for its child, which waits for the one that waits for it.
  const part = await refused(newTask('part', { parentId: a.id, blockedBy: [c.id] }));
  expect(part.code).toBe('FailedPrecondition');
  expect(await refused(board.member.tasks.addDependency({ taskId: a.id, blockedBy: a.id }))).toMatchObject({
    code: 'InvalidArgument',
    field: 'blocked_by',
  });
  expect((await refused(board.member.tasks.addDependency({ taskId: a.id, blockedBy: 'x' }))).code).toBe(
    'NotFound',
  );
  expect((await refused(newTask('d', { blockedBy: ['x'] }))).code).toBe('NotFound');
});

test('a cycle through a chain of 20,000 is found, without a search that grows faster than the chain', async () => {
  const length = 20_000;
  await sql.begin(async (tx) => {
    await tx`INSERT INTO task (project, id, title, body, labels, created_at, created_by, updated_at)
      SELECT 'default', 'chain' || n, 'link', '', '{}', 1, 'mia', 1 FROM generate_series(1, ${length}) n`;
    await tx`INSERT INTO task_state (project, task_id, status, priority, fencing_token, unmet, blockers, dependents)
      SELECT 'default', 'chain' || n, 1, 0, 0, (n > 1)::int, (n > 1)::int, (n < ${length})::int
      FROM generate_series(1, ${length}) n`;
    await tx`INSERT INTO dependency SELECT 'default', 'chain' || n, 'chain' || n - 1, false
      FROM generate_series(2, ${length}) n`;
  });
  const begin = performance.now();
  const cycle = board.member.tasks.addDependency({ taskId: 'chain1', blockedBy: `chain${length}` });
  const { text } = await refused(cycle);
  // Alone it takes a tenth of a second; quadratic, it would take minutes.
  expect(performance.now() - begin).toBeLessThan(10_000);
  expect(text).toContain(`a cycle of ${length} tasks: chain${length} waits for chain${length - 1} `);
  for (const table of ['dependency', 'task_state'])
    await sql`DELETE FROM ${sql(table)} WHERE task_id LIKE 'chain%'`;
  await sql`DELETE FROM task WHERE id LIKE 'chain%'`;
}, 60_000);

test('ENFORCE: a sub-task or an edge is a write of the task that will wait', async () => {
  await board.admin.projects.updateProject({ project: 'default', settings: { enforcement: 3 } });
  const task = await newTask('guarded');
  const other = await newTask('other');
  const mine = { executionId: 'ada-run' };
  const addChild = (more = {}) =>
    board.agent.tasks.createTask({ title: 'part', parentId: task.id, ...mine, ...more });
  expect((await refused(addChild())).verdict).toBe('LOCK_REQUIRED');
  const edge = { taskId: task.id, blockedBy: other.id, ...mine };
  expect((await refused(board.agent.tasks.addDependency(edge))).verdict).toBe('LOCK_REQUIRED');
  const proof = await hold(board.rival, task.id);
  expect((await refused(addChild())).verdict).toBe('LOCKED_BY_OTHER');
  await board.rival.leases.releaseLease(proof);
  const own = await hold(board.agent, task.id);
  await addChild({ proof: own });
  await board.agent.tasks.addDependency({ ...edge, proof: own });
  expect((await board.member.tasks.getTask({ taskId: task.id })).unmetDependencies).toHaveLength(2);
  await board.admin.projects.updateProject({ project: 'default', settings: { enforcement: 2 } });
});
