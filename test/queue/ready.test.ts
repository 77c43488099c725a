import type { Task } from '@holdfast/proto/task';
import { TaskStatus } from '@holdfast/proto/task';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { MINUTE, SECOND } from '../../src/domain/instant.js';
import { type Board, hold, type Person, startBoard } from '../rpc/board.js';
import { type MovableClock, stopClock } from '../support/clock.js';

let board: Board;
let clock: MovableClock;
/** A project of its own for each test: the owner's calls name it. */
let project: string;
let projects = 0;
let owner: Person;

beforeAll(async () => {
  board = await startBoard({ withFeed: false, settings: { maxExpiries: 2 } });
  clock = await stopClock(board.service.databaseUrl);
  owner = board.owner;
});
afterAll(() => clock.close());
beforeEach(async () => {
  projects += 1;
  project = `ready-${projects}`;
  await owner.projects.createProject({ project, title: project });
});

interface Wanted {
  readonly priority?: number;
  readonly planId?: string;
  readonly labels?: string[];
  readonly assignee?: string;
  readonly blockedBy?: string[];
  readonly parentId?: string;
}

async function newTask(title: string, wanted: Wanted = {}): Promise<Task> {
  const { task } = await owner.tasks.createTask({ project, title, ...wanted });
  if (!task) throw new Error('no task was made');
  return task;
}

async function newPlan(title: string): Promise<string> {
  return (await owner.tasks.createPlan({ project, title })).plan?.id ?? '';
}

type Filter = { planId?: string; labels?: string[]; assignee?: string };

async function ready(filter: Filter = {}): Promise<string[]> {
  const { tasks } = await owner.tasks.listReadyTasks({ project, ...filter });
  return tasks.map(({ title }) => title);
}

async function next(filter: Filter = {}): Promise<string> {
  const { outcome } = await owner.leases.acquireNextTask({ project, executionId: 'run', ...filter });
  return outcome.case === 'grant' ? (outcome.value.task?.title ?? '') : (outcome.value?.advice ?? '');
}

/** A lease of one second on a task, which then lapses without anybody's noticing. */
async function lapse(taskId: string): Promise<void> {
  await owner.leases.acquireLease({ project, taskId, executionId: 'dies', ttl: { seconds: 1n, nanos: 0 } });
  await clock.advance(2 * SECOND);
}

test('the best is first: priority, then the order of the plan, then age', async () => {
  const planId = await newPlan('a plan');
  await newTask('old', { priority: 1 });
  const one = await newTask('step 1', { priority: 1, planId });
  const two = await newTask('step 2', { priority: 1, planId });
  await newTask('new', { priority: 1 });
  await newTask('urgent', { priority: 9 });
  await newTask('some time', { priority: -5 });
  expect(await ready()).toEqual(['urgent', 'old', 'new', 'step 1', 'step 2', 'some time']);
  await owner.tasks.updatePlan({ project, planId, stepIds: [two.id, one.id] });
  expect(await ready({ planId })).toEqual(['step 2', 'step 1']);
  await owner.tasks.updateTask({ project, taskId: two.id, priority: 0, updateMask: { paths: ['priority'] } });
  const order = ['urgent', 'old', 'new', 'step 1', 'step 2', 'some time'];
  expect(await ready()).toEqual(order);
  const taken: string[] = [];
  for (const _ of order) taken.push(await next());
  expect(taken).toEqual(order);
});

test('filters: plan, all of the labels, assignee', async () => {
  const planId = await newPlan('a plan');
  await newTask('in the plan', { planId, labels: ['red'] });
  await newTask('red and blue', { labels: ['red', 'blue'], assignee: 'ada' });
  await newTask('blue', { labels: ['blue'] });
  expect(await ready({ planId })).toEqual(['in the plan']);
  expect(await ready({ labels: ['red'] })).toEqual(['red and blue', 'in the plan']);
  expect(await ready({ labels: ['blue', 'red'] })).toEqual(['red and blue']);
  expect(await ready({ assignee: 'Ada' })).toEqual(['red and blue']);
  expect(await ready({ assignee: 'rob' })).toEqual([]);
  expect(await next({ labels: ['green'] })).toBe(
    'Nothing is ready: 3 ready that your filter leaves out. Ask again with wait, or after retry_after.',
  );
  expect(await next({ planId })).toBe('in the plan');
  expect(await next({ assignee: 'ada' })).toBe('red and blue');
});

test('pages give every task exactly once while others come, change and go', async () => {
  const titles = Array.from({ length: 40 }, (_, i) => `task ${i}`);
  for (const [i, title] of titles.entries()) await newTask(title, { priority: i % 3 });
  const seen: string[] = [];
  let pageToken = '';
  do {
    const page = await owner.tasks.listReadyTasks({ project, pageSize: 7, pageToken });
    seen.push(...page.tasks.map(({ title }) => title));
    pageToken = page.nextPageToken;
    // One more in front, and one of those that were shown goes away.
    await newTask(`late ${seen.length}`, { priority: 10 });
    const shown = page.tasks[0]?.id ?? '';
    await owner.tasks.completeTask({ project, taskId: shown });
  } while (pageToken);
  expect(seen.toSorted()).toEqual(titles.toSorted());
  expect(new Set(seen).size).toBe(titles.length);
});

test('a page token of another project, or a damaged one, is refused', async () => {
  for (const title of ['one', 'two']) await newTask(title);
  const { nextPageToken } = await owner.tasks.listReadyTasks({ project, pageSize: 1 });
  await expect(owner.tasks.listReadyTasks({ pageSize: 1, pageToken: nextPageToken })).rejects.toThrow(
    /page_token/,
  );
  await expect(owner.tasks.listReadyTasks({ project, pageToken: 'AAAA' })).rejects.toThrow(/page_token/);
});

test('a lapsed lease counts as ready from the deadline on, with no sweep, in its order', async () => {
  await newTask('better', { priority: 2 });
  const dying = await newTask('lapsed', { priority: 1, labels: ['red'] });
  await newTask('worse', { priority: 0 });
  await owner.leases.acquireLease({
    project,
    taskId: dying.id,
    executionId: 'dies',
    ttl: { seconds: 60n, nanos: 0 },
  });
  await clock.advance(MINUTE - 1);
  expect(await ready()).toEqual(['better', 'worse']);
  await clock.advance(1);
  expect(await ready()).toEqual(['better', 'lapsed', 'worse']);
  expect(await ready({ labels: ['red'] })).toEqual(['lapsed']);
  const { tasks } = await owner.tasks.listReadyTasks({ project, labels: ['red'] });
  // Status, holder and lease of one answer agree.
  expect(tasks[0]?.status).toBe(TaskStatus.OPEN);
  expect(tasks[0]?.holder).toBeUndefined();
  expect(tasks[0]?.leaseExpiresAt).toBeUndefined();
  expect(await next({ labels: ['red'] })).toBe('lapsed');
});

test('a page across a lapsed lease shows it once', async () => {
  for (const n of [1, 2, 3, 4]) await newTask(`task ${n}`);
  const { tasks } = await owner.tasks.listReadyTasks({ project });
  await lapse(tasks[1]?.id ?? '');
  const seen: string[] = [];
  let pageToken = '';
  do {
    const page = await owner.tasks.listReadyTasks({ project, pageSize: 1, pageToken });
    seen.push(...page.tasks.map(({ title }) => title));
    pageToken = page.nextPageToken;
  } while (pageToken);
  expect(seen).toEqual(['task 1', 'task 2', 'task 3', 'task 4']);
});

test('a lapsed lease whose recording will quarantine the task is not ready', async () => {
  const { id } = await newTask('deadly');
  await lapse(id);
  expect(await ready()).toEqual(['deadly']);
  await lapse(id);
  expect(await ready()).toEqual([]);
  expect(await next()).toMatch(/^Nothing is ready: 1 quarantined/);
});

test('a leased task is never listed', async () => {
  const { id } = await newTask('mine');
  await owner.leases.acquireLease({ project, taskId: id, executionId: 'run' });
  expect(await ready()).toEqual([]);
  expect(await next()).toMatch(/^Nothing is ready: 1 leased \(next expiry in .*\)/);
});

test('explain says of each task that is not ready why', async () => {
  const held = await newTask('held');
  const deadly = await newTask('deadly');
  const parent = await newTask('parent');
  const child = await newTask('child', { parentId: parent.id });
  const waits = await newTask('waits', { blockedBy: [held.id, child.id] });
  await lapse(deadly.id);
  await lapse(deadly.id);
  // Whoever comes next records it.
  await owner.leases.acquireLease({ project, taskId: deadly.id, executionId: 'late' });
  await owner.leases.acquireLease({ project, taskId: held.id, executionId: 'run' });
  const { tasks, notReady } = await owner.tasks.listReadyTasks({ project, explain: true });
  expect(tasks.map(({ id }) => id)).toEqual([child.id]);
  const byId = new Map(notReady.map((entry) => [entry.taskId, entry]));
  expect([...byId.keys()].toSorted()).toEqual([held.id, deadly.id, parent.id, waits.id].toSorted());
  expect(byId.get(held.id)).toMatchObject({
    reason: expect.stringContaining('owner (run) holds it'),
    holder: { principal: 'owner', executionId: 'run' },
    expiresAt: expect.anything(),
  });
  expect(byId.get(deadly.id)?.reason).toMatch(/person must requeue/);
  expect(byId.get(parent.id)?.unmetDependencies).toMatchObject([{ taskId: child.id, title: 'child' }]);
  expect(byId.get(waits.id)?.unmetDependencies).toMatchObject([
    { taskId: held.id, status: TaskStatus.IN_PROGRESS, holder: { executionId: 'run' } },
    { taskId: child.id, status: TaskStatus.OPEN },
  ]);
});

test('explain and the list together name every unfinished task, also one whose lease will quarantine it', async () => {
  const deadly = await newTask('deadly');
  await lapse(deadly.id);
  await lapse(deadly.id);
  const { tasks, notReady } = await owner.tasks.listReadyTasks({ project, explain: true });
  expect([...tasks.map(({ id }) => id), ...notReady.map(({ taskId }) => taskId)]).toEqual([deadly.id]);
});

test('explain names a blocked task whose lease lapsed', async () => {
  const blocker = await newTask('blocker');
  await owner.tasks.completeTask({ project, taskId: blocker.id });
  const task = await newTask('waits', { blockedBy: [blocker.id] });
  await owner.leases.acquireLease({
    project,
    taskId: task.id,
    executionId: 'dies',
    ttl: { seconds: 1n, nanos: 0 },
  });
  await owner.tasks.reopenTask({ project, taskId: blocker.id, reason: 'more to do' });
  await clock.advance(2 * SECOND);
  const { tasks, notReady } = await owner.tasks.listReadyTasks({ project, explain: true });
  expect(tasks.map(({ id }) => id)).toEqual([blocker.id]);
  expect(notReady.map(({ taskId }) => taskId)).toEqual([task.id]);
});

test('a refused acquire offers ready tasks instead', async () => {
  const task = await board.task('held');
  const other = await board.task('free');
  await hold(board.rival, task.id);
  const { outcome } = await board.agent.leases.acquireLease({ taskId: task.id, executionId: 'ada-run' });
  expect(outcome).toMatchObject({ case: 'refusal', value: { alternatives: [{ id: other.id }] } });
});

test('at most three of them', async () => {
  const task = await board.task('held');
  for (const title of ['a', 'b', 'c', 'd', 'e']) await board.task(title);
  await hold(board.rival, task.id);
  const { outcome } = await board.agent.leases.acquireLease({ taskId: task.id, executionId: 'ada-run' });
  expect(outcome.case === 'refusal' && outcome.value.alternatives).toHaveLength(3);
});
