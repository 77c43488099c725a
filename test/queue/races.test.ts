import { Code, ConnectError } from '@connectrpc/connect';
import type { Holdfast } from '@holdfast/client';
import { type AcquireNextTaskResponse, RefusalReason } from '@holdfast/proto/lease';
import type { Sql } from 'postgres';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { brokenRules } from '../support/history-audit.js';
import { connect, createTestDatabase } from '../support/postgres.js';
import { newServerFolder, ServerProcess } from '../support/server-process.js';
import { brokenQueueRules, watchQueue } from './queue-rules.js';

const long = process.env.HOLDFAST_TEST_LONG === '1';
const ROUNDS = long ? 100 : 12;
const CONNECTIONS = 50;

let databaseUrl: string;
let sql: Sql;
/** The owner, at each of the two servers. */
let here: Holdfast;
let there: Holdfast;
/** Executions of one agent, half of them at each server, each on a connection of its own. */
let agents: Holdfast[];
/** A project of its own for each test. */
let project: string;
let projects = 0;

beforeAll(async () => {
  databaseUrl = (await createTestDatabase()).url;
  sql = connect(databaseUrl, { max: 2 });
  await watchQueue(sql);
  const dataDir = newServerFolder();
  const one = await ServerProcess.start({ dataDir, databaseUrl });
  const two = await ServerProcess.start({ dataDir, databaseUrl });
  here = one.client(one.ownerToken, 'here');
  there = two.client(two.ownerToken, 'there');
  agents = Array.from({ length: CONNECTIONS }, (_, i) => {
    const server = i % 2 === 0 ? one : two;
    return server.client(server.ownerToken, `run-${i}`);
  });
  await Promise.all(agents.map((agent) => agent.projects.whoAmI({})));
});
afterAll(() => sql.end());

beforeEach(async () => {
  projects += 1;
  project = `race-${projects}`;
  await here.projects.createProject({ project, title: project });
});
afterEach(async () => {
  expect(await brokenQueueRules(sql)).toEqual([]);
  expect(await brokenRules(databaseUrl)).toEqual([]);
});

async function newTask(blockedBy: readonly string[] = []): Promise<string> {
  const { task } = await here.tasks.createTask({ project, title: 'a task', blockedBy: [...blockedBy] });
  if (!task) throw new Error('no task was made');
  return task.id;
}

async function newTasks(count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const some = Math.min(50, count - ids.length);
    ids.push(...(await Promise.all(Array.from({ length: some }, () => newTask()))));
  }
  return ids;
}

/** `OK`, or the code that the call was refused with. */
async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'OK';
  } catch (error) {
    return Code[ConnectError.from((error as Error).cause ?? error).code] ?? 'none';
  }
}

const next = (agent: Holdfast) => agent.leases.acquireNextTask({ project, executionId: agent.executionId });

function outcomeOf({ outcome }: AcquireNextTaskResponse): string {
  if (outcome.case === 'grant') return outcome.value.task?.id ?? 'no task';
  return RefusalReason[outcome.value?.reason ?? 0] ?? 'no reason';
}

test('of 50 who ask at once for 10 ready tasks, 10 get different ones and 40 a clear answer', async () => {
  for (let round = 0; round < (long ? 20 : 4); round++) {
    const ids = await newTasks(10);
    const answers = await Promise.all(agents.map(next));
    const outcomes = answers.map(outcomeOf);
    expect(outcomes.filter((outcome) => outcome !== 'NOTHING_READY').sort()).toEqual(ids.sort());
    expect(outcomes.filter((outcome) => outcome === 'NOTHING_READY')).toHaveLength(40);
    for (const { outcome } of answers) {
      if (outcome.case === 'refusal') expect(outcome.value.advice).toMatch(/^Nothing is ready: \d+ leased/);
    }
  }
});

test('50 connections drain 1,000 tasks over two servers: each granted once, none forgotten', async () => {
  const ids = await newTasks(1_000);
  const granted: string[] = [];
  await Promise.all(
    agents.map(async (agent) => {
      for (;;) {
        const { outcome } = await next(agent);
        if (outcome.case !== 'grant') return;
        const { lease, task } = outcome.value;
        granted.push(task?.id ?? 'no task');
        await agent.tasks.completeTask({
          project,
          taskId: task?.id ?? '',
          executionId: agent.executionId,
          proof: { leaseId: lease?.id ?? '', fencingToken: lease?.fencingToken ?? 0n },
        });
      }
    }),
  );
  expect(granted.sort()).toEqual(ids.sort());
  const [left] = await sql`SELECT count(*)::int AS n FROM queue WHERE project = ${project}`;
  expect(left?.n).toBe(0);
}, 90_000);

test('a task whose dependency is being reopened is never granted after that', async () => {
  const [byId, byQueue] = agents as [Holdfast, Holdfast];
  const seen = new Set<string>();
  for (let round = 0; round < ROUNDS; round++) {
    const blocker = await newTask();
    const taskId = await newTask([blocker]);
    await here.tasks.completeTask({ project, taskId: blocker });
    const [first, , answer] = await Promise.all([
      codeOf(byId.leases.acquireLease({ project, taskId, executionId: byId.executionId })),
      there.tasks.reopenTask({ project, taskId: blocker, reason: 'more to do' }),
      next(byQueue),
    ]);
    expect(first).toBe('OK');
    const got = outcomeOf(answer);
    expect([taskId, blocker, 'NOTHING_READY']).toContain(got);
    const order = await sql`
      SELECT kind FROM event WHERE project = ${project} AND
        ((task_id = ${taskId} AND kind = 15) OR (task_id = ${blocker} AND kind = 6)) ORDER BY id`;
    const kinds = order.map(({ kind }) => kind).join();
    // Granted before the reopening, or not at all.
    expect(['15,6', '6']).toContain(kinds);
    seen.add(kinds);
    // Out of the way of the next round.
    for (const id of [taskId, blocker]) await here.tasks.deleteTask({ project, taskId: id, detach: true });
  }
  if (long) expect(seen.size).toBe(2);
}, 60_000);

test('two edges that would close a cycle from both sides: one is refused', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const [a, b] = (await newTasks(2)) as [string, string];
    const codes = await Promise.all([
      codeOf(here.tasks.addDependency({ project, taskId: a, blockedBy: b })),
      codeOf(there.tasks.addDependency({ project, taskId: b, blockedBy: a })),
    ]);
    expect(codes.sort()).toEqual(['FailedPrecondition', 'OK']);
  }
});

test('four edges far apart that would close a cycle together: one is refused', async () => {
  for (let round = 0; round < ROUNDS / 2; round++) {
    const chains = await Promise.all(
      [0, 1, 2, 3].map(async () => {
        const end = await newTask();
        const middle = await newTask([end]);
        return { start: await newTask([middle]), end };
      }),
    );
    const codes = await Promise.all(
      chains.map(({ end }, i) => {
        const blockedBy = chains[(i + 1) % 4]?.start ?? '';
        return codeOf((i % 2 ? here : there).tasks.addDependency({ project, taskId: end, blockedBy }));
      }),
    );
    expect(codes.sort()).toEqual(['FailedPrecondition', 'OK', 'OK', 'OK']);
  }
});

test('completions, reopenings and edges that come and go on the same tasks leave the counts right', async () => {
  const [blocker, other, ...waiting] = (await newTasks(8)) as [string, string, ...string[]];
  const codes = new Map<string, number>();
  const many = async (work: (round: number) => Promise<unknown>) => {
    for (let round = 0; round < ROUNDS; round++) {
      const code = await codeOf(work(round));
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }
  };
  const some = (round: number) => waiting[round % waiting.length] ?? '';
  await Promise.all([
    many(() => here.tasks.completeTask({ project, taskId: blocker })),
    many(() => there.tasks.reopenTask({ project, taskId: blocker, reason: 'more to do' })),
    many(() => there.tasks.dropTask({ project, taskId: blocker, reason: 'not wanted' })),
    many((n) => here.tasks.addDependency({ project, taskId: some(n), blockedBy: blocker })),
    many((n) =>
      there.tasks.addDependency({ project, taskId: some(n), blockedBy: blocker, acceptDropped: true }),
    ),
    many((n) => here.tasks.removeDependency({ project, taskId: some(n), blockedBy: blocker })),
    many((n) => there.tasks.removeDependency({ project, taskId: some(n + 3), blockedBy: blocker })),
    many((n) => here.tasks.addDependency({ project, taskId: blocker, blockedBy: n % 2 ? other : some(n) })),
    many((n) => here.tasks.createTask({ project, title: 'one more', blockedBy: [blocker, some(n)] })),
    many((n) => there.tasks.createTask({ project, title: 'a part', parentId: some(n), blockedBy: [other] })),
  ]);
  // ABORTED: so many on the same rows that the tries ran out; nothing was done.
  for (const code of ['OK', 'FailedPrecondition', 'NotFound', 'Aborted']) codes.delete(code);
  expect(Object.fromEntries(codes)).toEqual({});
  const stuck = await sql`
    SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'holdfast'
      AND (wait_event_type = 'Lock' OR state LIKE 'idle in transaction%')`;
  expect(stuck).toHaveLength(0);
}, 60_000);
