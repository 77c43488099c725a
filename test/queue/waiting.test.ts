import { setTimeout as sleep } from 'node:timers/promises';
import { Code, ConnectError } from '@connectrpc/connect';
import type { Holdfast } from '@holdfast/client';
import { LeaseState } from '@holdfast/proto/guard';
import { type AcquireNextTaskResponse, RefusalReason } from '@holdfast/proto/lease';
import type { Sql } from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect, createTestDatabase } from '../support/postgres.js';
import { newServerFolder, ServerProcess } from '../support/server-process.js';

/** A replica polls once in a second; the rest is for a busy machine. */
const IN_TIME_MS = 2_000;

let databaseUrl: string;
let dataDir: string;
let one: ServerProcess;
let two: ServerProcess;
let here: Holdfast;
let sql: Sql;
let executions = 0;

beforeAll(async () => {
  databaseUrl = (await createTestDatabase()).url;
  dataDir = newServerFolder();
  sql = connect(databaseUrl, { max: 1 });
  one = await ServerProcess.start({ dataDir, databaseUrl });
  two = await ServerProcess.start({ dataDir, databaseUrl });
  here = one.client(one.ownerToken, 'here');
});
afterAll(() => sql.end());

async function newTask(label: string, blockedBy: string[] = []): Promise<string> {
  const { task } = await here.tasks.createTask({ title: 'a task', labels: [label], blockedBy });
  return task?.id ?? '';
}

/** Who asks the other server for a task with this label. */
function visitor(server = two): Holdfast {
  executions += 1;
  return server.client(server.ownerToken, `run-${executions}`);
}

function next(
  who: Holdfast,
  label: string,
  seconds: number,
  more: { requestId?: string; signal?: AbortSignal } = {},
) {
  const { requestId = '', signal } = more;
  return who.leases.acquireNextTask(
    {
      executionId: who.executionId,
      labels: [label],
      requestId,
      wait: { seconds: BigInt(seconds), nanos: 0 },
    },
    signal ? { signal } : {},
  );
}

function grantOf({ outcome }: AcquireNextTaskResponse) {
  if (outcome.case !== 'grant') throw new Error(`refused: ${RefusalReason[outcome.value?.reason ?? 0]}`);
  const { lease, task } = outcome.value;
  return { taskId: task?.id ?? '', leaseId: lease?.id ?? '', fencingToken: lease?.fencingToken ?? 0n };
}

function reasonOf({ outcome }: AcquireNextTaskResponse) {
  return outcome.case === 'refusal' ? RefusalReason[outcome.value.reason] : outcome.case;
}

/** Each: what there is before, and then what makes the task ready, at the first server. */
const WAYS: Record<string, (label: string) => Promise<() => Promise<unknown>>> = {
  creation: async (label) => () => newTask(label),
  completion: async (label) => {
    const blocker = await newTask('other');
    await newTask(label, [blocker]);
    return () => here.tasks.completeTask({ taskId: blocker });
  },
  release: async (label) => {
    await newTask(label);
    const held = grantOf(await next(here, label, 0));
    return () => here.leases.releaseLease({ leaseId: held.leaseId, fencingToken: held.fencingToken });
  },
  'end of an execution': async (label) => {
    await newTask(label);
    const holder = visitor(one);
    grantOf(await next(holder, label, 0));
    return () => holder.leases.endExecution({ executionId: holder.executionId });
  },
  'forced release': async (label) => {
    const taskId = await newTask(label);
    grantOf(await next(here, label, 0));
    return () => here.leases.forceReleaseLease({ taskId, reason: 'needed' });
  },
  'a dependency removed': async (label) => {
    const blockedBy = await newTask('other');
    const taskId = await newTask(label, [blockedBy]);
    return () => here.tasks.removeDependency({ taskId, blockedBy });
  },
  'a dependency deleted': async (label) => {
    const blocker = await newTask('other');
    await newTask(label, [blocker]);
    return () => here.tasks.deleteTask({ taskId: blocker, detach: true });
  },
  reopening: async (label) => {
    const taskId = await newTask(label);
    await here.tasks.completeTask({ taskId });
    return () => here.tasks.reopenTask({ taskId, reason: 'more to do' });
  },
  requeueing: async (label) => {
    const taskId = await newTask(label);
    await sql.begin(async (tx) => {
      await tx`UPDATE task_state SET status = 5 WHERE task_id = ${taskId}`;
      await tx`UPDATE queue SET standing = 4 WHERE task_id = ${taskId}`;
    });
    return () => here.tasks.requeueTask({ taskId, reason: 'try again' });
  },
  'a label': async (label) => {
    const taskId = await newTask('other');
    return () => here.tasks.updateTask({ taskId, labels: [label], updateMask: { paths: ['labels'] } });
  },
};

test.each(Object.keys(WAYS))('who waits at another server is woken by %s', async (way) => {
  const label = way.replaceAll(' ', '-');
  const happen = await (WAYS[way] as (typeof WAYS)[string])(label);
  const waiting = next(visitor(), label, 20);
  expect(await Promise.race([waiting.then(reasonOf), sleep(150)])).toBeUndefined();
  const begin = performance.now();
  await happen();
  grantOf(await waiting);
  expect(performance.now() - begin).toBeLessThan(IN_TIME_MS);
});

test('who waits at another server is woken by an expiry', async () => {
  await newTask('expiry');
  const { outcome } = await here.leases.acquireNextTask({
    executionId: 'here',
    labels: ['expiry'],
    ttl: { seconds: 1n, nanos: 0 },
  });
  expect(outcome.case).toBe('grant');
  const begin = performance.now();
  const answer = await next(visitor(), 'expiry', 20);
  expect(performance.now() - begin).toBeLessThan(1_000 + IN_TIME_MS);
  grantOf(answer);
  if (answer.outcome.case === 'grant') {
    expect(answer.outcome.value.continuation).toMatchObject({ attempt: 2, previousEnd: LeaseState.EXPIRED });
  }
});

test('a wait runs out at its time, with the reason', async () => {
  const taskId = await newTask('held');
  grantOf(await next(here, 'held', 0));
  const begin = performance.now();
  const { outcome } = await next(visitor(), 'held', 1);
  const took = performance.now() - begin;
  expect(took).toBeGreaterThanOrEqual(990);
  expect(took).toBeLessThan(IN_TIME_MS);
  expect(outcome).toMatchObject({
    case: 'refusal',
    value: {
      reason: RefusalReason.NOTHING_READY,
      advice: expect.stringContaining('1 leased (next expiry in'),
    },
  });
  await here.tasks.completeTask({ taskId });
});

test('who goes away while waiting takes no task', async () => {
  const abort = new AbortController();
  const gone = next(visitor(), 'gone', 20, { signal: abort.signal }).catch((error) => error);
  expect(await Promise.race([gone, sleep(150)])).toBeUndefined();
  abort.abort();
  expect(ConnectError.from(await gone).code).toBe(Code.Canceled);
  const stays = next(visitor(), 'gone', 20);
  const taskId = await newTask('gone');
  expect(grantOf(await stays).taskId).toBe(taskId);
  expect(await sql`SELECT fencing_token::int AS token FROM lease WHERE task_id = ${taskId}`).toEqual([
    { token: 1 },
  ]);
});

test('an execution that is ended while it waits is told so', async () => {
  const who = visitor();
  const waiting = next(who, 'ended', 20);
  expect(await Promise.race([waiting.then(reasonOf), sleep(150)])).toBeUndefined();
  await here.leases.endExecution({ executionId: who.executionId });
  const begin = performance.now();
  expect(reasonOf(await waiting)).toBe('EXECUTION_ENDED');
  expect(performance.now() - begin).toBeLessThan(IN_TIME_MS);
});

test('a repeated request gets the same lease, and after its end how it ended', async () => {
  const taskId = await newTask('repeat');
  await newTask('repeat');
  const who = visitor();
  const first = grantOf(await next(who, 'repeat', 5, { requestId: 'once' }));
  expect(first.taskId).toBe(taskId);
  expect(grantOf(await next(who, 'repeat', 5, { requestId: 'once' }))).toEqual(first);
  await expect(
    here.leases.acquireNextTask({ executionId: who.executionId, labels: ['x'], requestId: 'once' }),
  ).rejects.toThrow(/request_id/);
  await who.leases.releaseLease({ leaseId: first.leaseId, fencingToken: first.fencingToken });
  const { outcome } = await next(who, 'repeat', 5, { requestId: 'once' });
  expect(outcome).toMatchObject({
    case: 'refusal',
    value: {
      reason: RefusalReason.LEASE_ENDED,
      endedLease: { id: first.leaseId, state: LeaseState.RELEASED },
    },
  });
  const granted = await sql`SELECT 1 FROM lease JOIN task ON task.id = task_id WHERE labels = '{repeat}'`;
  expect(granted).toHaveLength(1);
});

test('a server that ends sends those who wait away at once', async () => {
  const third = await ServerProcess.start({ dataDir, databaseUrl });
  const who = visitor(third);
  const waiting = next(who, 'drain', 30).catch((error) => error);
  expect(await Promise.race([waiting, sleep(150)])).toBeUndefined();
  const begin = performance.now();
  const ended = third.end('SIGTERM');
  expect(ConnectError.from(await waiting).code).toBe(Code.Unavailable);
  await ended;
  expect(performance.now() - begin).toBeLessThan(5_000);
});
