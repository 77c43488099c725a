import { Code, ConnectError } from '@connectrpc/connect';
import type { Holdfast } from '@holdfast/client';
import { TaskStatus } from '@holdfast/proto/task';
import fc from 'fast-check';
import type { Sql } from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MINUTE } from '../../src/domain/instant.js';
import { type Board, hold, startBoard } from '../rpc/board.js';
import { type MovableClock, stopClock } from '../support/clock.js';
import { brokenRules } from '../support/history-audit.js';
import { connect } from '../support/postgres.js';
import { brokenQueueRules, watchQueue } from './queue-rules.js';

const long = process.env.HOLDFAST_TEST_LONG === '1';
const LANES = 4;

let board: Board;
let sql: Sql;
let clock: MovableClock;
let people: Holdfast[];

beforeAll(async () => {
  board = await startBoard({ withFeed: false, settings: { maxExpiries: 2 } });
  sql = connect(board.service.databaseUrl, { max: 2 });
  clock = await stopClock(board.service.databaseUrl);
  await watchQueue(sql);
  people = Array.from({ length: LANES }, (_, i) => board.service.client(board.member.token, `lane-${i}`));
});
afterAll(async () => {
  await clock.close();
  await sql.end();
});

const KINDS = [
  ...['create', 'create', 'create', 'add', 'add', 'add', 'remove', 'next', 'acquire', 'complete', 'complete'],
  ...['drop', 'reopen', 'requeue', 'delete', 'release', 'update', 'lapse', 'lapse', 'steps', 'import'],
] as const;

interface Step {
  readonly kind: (typeof KINDS)[number];
  /** Which tasks: by their number, modulo how many there are. */
  readonly a: number;
  readonly b: number;
  readonly flag: boolean;
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(...KINDS),
  a: fc.nat(30),
  b: fc.nat(30),
  flag: fc.boolean(),
});

interface World {
  readonly planId: string;
  readonly run: string;
  readonly ids: string[];
}

/** Answers a task's id, or one of a task that never was. */
const pick = ({ ids }: World, n: number) => ids[n % Math.max(1, ids.length)] ?? 'nobody';

async function take(world: World, who: Holdfast, { kind, a, b, flag }: Step): Promise<void> {
  const [taskId, other] = [pick(world, a), pick(world, b)];
  const { executionId } = who;
  switch (kind) {
    case 'create': {
      const { task } = await who.tasks.createTask({
        title: `task ${world.ids.length}`,
        priority: a % 3,
        labels: flag ? ['red'] : [],
        planId: flag ? world.planId : '',
        blockedBy: world.ids.length > 0 && b % 2 === 0 ? [...new Set([taskId, other])] : [],
        parentId: world.ids.length > 0 && b % 5 === 1 ? other : '',
      });
      if (task) world.ids.push(task.id);
      return;
    }
    case 'add':
      await who.tasks.addDependency({ taskId, blockedBy: other, acceptDropped: flag });
      return;
    case 'remove': {
      const { task } = await who.tasks.getTask({ taskId });
      await who.tasks.removeDependency({ taskId, blockedBy: task?.blockedBy[b % 2] ?? other });
      return;
    }
    case 'next':
      await who.leases.acquireNextTask({ executionId, ...(flag && { planId: world.planId }) });
      return;
    case 'acquire':
      await who.leases.acquireLease({ taskId, executionId });
      return;
    case 'complete':
      await who.tasks.completeTask({ taskId });
      return;
    case 'drop':
      await who.tasks.dropTask({ taskId, reason: 'no longer wanted' });
      return;
    case 'reopen':
      await who.tasks.reopenTask({ taskId, reason: 'more to do' });
      return;
    case 'requeue':
      await who.tasks.requeueTask({ taskId, reason: 'try again' });
      return;
    case 'delete':
      await who.tasks.deleteTask({ taskId, detach: flag });
      return;
    case 'release': {
      const { leaseId, fencingToken } = await hold({ ...who, token: '' }, taskId);
      await who.leases.releaseLease({ leaseId, fencingToken });
      return;
    }
    case 'update':
      await who.tasks.updateTask({
        taskId,
        priority: b,
        labels: flag ? ['red', 'blue'] : [],
        assignee: flag ? 'ada' : '',
        updateMask: { paths: ['priority', 'labels', 'assignee'] },
      });
      return;
    case 'lapse':
      await hold({ ...who, token: '' }, taskId, 30);
      await clock.advance(1 * MINUTE);
      if (flag) await who.leases.acquireNextTask({ executionId });
      return;
    case 'steps': {
      const { steps } = await who.tasks.getPlan({ planId: world.planId });
      await who.tasks.updatePlan({ planId: world.planId, stepIds: steps.map(({ id }) => id).reverse() });
      return;
    }
    case 'import': {
      const key = (n: number) => `${world.run}-${n % 6}`;
      const record = {
        title: `imported ${a}`,
        priority: b,
        labels: ['red'],
        plan: flag ? `plan-${world.run}` : '',
        planTitle: flag ? 'imported' : '',
      };
      await who.tasks.importTasks({
        allowPartial: true,
        tasks: [
          { ...record, externalKey: key(a), line: 1, status: flag ? TaskStatus.DONE : TaskStatus.OPEN },
          { ...record, externalKey: key(a + 1), line: 2, blockedBy: [key(a)], status: TaskStatus.OPEN },
          { ...record, externalKey: key(a + 2), line: 3, parent: key(a + 1), status: TaskStatus.OPEN },
        ],
      });
      const found = await who.tasks.getTask({ externalKey: key(a) });
      if (found.task && !world.ids.includes(found.task.id)) world.ids.push(found.task.id);
      return;
    }
  }
}

/** What the rules refuse is an answer; anything else is a fault. */
const EXPECTED = new Set([Code.FailedPrecondition, Code.NotFound, Code.InvalidArgument]);

async function attempt(world: World, who: Holdfast, step: Step): Promise<void> {
  try {
    await take(world, who, step);
  } catch (error) {
    if ((error as Error).message.startsWith('refused: refusal')) return;
    const thrown = ConnectError.from(
      error instanceof ConnectError ? error : ((error as Error).cause ?? error),
    );
    if (!EXPECTED.has(thrown.code)) throw new Error(`${step.kind}: ${thrown.message}`, { cause: error });
  }
}

let runs = 0;

async function play(steps: readonly Step[], lanes: number): Promise<void> {
  const { plan } = await board.member.tasks.createPlan({ title: 'a plan' });
  runs += 1;
  const world: World = { planId: plan?.id ?? '', run: `run${runs}`, ids: [] };
  // Something to begin with, also for a shrunk list.
  for (const n of [0, 1, 2, 3]) {
    await attempt(world, people[0] as Holdfast, { kind: 'create', a: n, b: 3, flag: true });
  }
  const failed: unknown[] = [];
  await Promise.all(
    people.slice(0, lanes).map(async (who, lane) => {
      for (const [i, step] of steps.entries()) {
        if (i % lanes === lane) await attempt(world, who, step).catch((error) => failed.push(error));
      }
    }),
  );
  expect(failed).toEqual([]);
  expect(await brokenQueueRules(sql)).toEqual([]);
}

test('whatever one caller does, counts, queue and TASK_READY agree with edges and statuses', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40, size: 'max' }), (steps) => play(steps, 1)),
    { numRuns: long ? 300 : 20, interruptAfterTimeLimit: long ? 120_000 : 9_000, endOnFailure: !long },
  );
  expect(await brokenRules(board.service.databaseUrl)).toEqual([]);
}, 200_000);

test('whatever several callers do at once, counts, queue and TASK_READY agree with edges and statuses', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 40, maxLength: 120, size: 'max' }), (steps) =>
      play(steps, LANES),
    ),
    { numRuns: long ? 200 : 12, interruptAfterTimeLimit: long ? 120_000 : 9_000, endOnFailure: true },
  );
  expect(await brokenRules(board.service.databaseUrl)).toEqual([]);
  if (!long) return;
  // Otherwise too little happened: every way in which a task becomes ready or stops being so was gone.
  const kinds = await sql`SELECT DISTINCT kind FROM event`;
  expect(kinds.map(({ kind }) => kind)).toEqual(
    expect.arrayContaining([3, 4, 5, 6, 7, 8, 9, 11, 12, 15, 16, 17, 18]),
  );
}, 200_000);
