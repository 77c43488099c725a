import { randomUUID } from 'node:crypto';
import { Code, ConnectError } from '@connectrpc/connect';
import { createHoldfast } from '@holdfast/client';
import { TaskStatus } from '@holdfast/proto/task';
import type { Sql } from 'postgres';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { Agent, type Held } from '../support/agent.js';
import { startDroppingProxy } from '../support/dropping-proxy.js';
import { brokenRules } from '../support/history-audit.js';
import { connect } from '../support/postgres.js';
import { startTestService, type TestService } from '../support/service.js';

let service: TestService;
let sql: Sql;
let token: string;
let person: Agent;

beforeAll(async () => {
  service = await startTestService({ settings: { enforcement: 'ENFORCE' } });
  sql = connect(service.databaseUrl, { max: 1 });
  token = await service.token('AGENT', 'agent', 'ada');
  person = new Agent(service.client(service.ownerToken));
});

afterAll(() => sql.end());

const remembered = async (requestId: string) =>
  (await sql`SELECT ref FROM request WHERE request_id = ${requestId}`).length;

/** Makes a call whose reply is lost after the server has committed it, then the same call on a new connection. */
async function twice<Answer>(
  executionId: string,
  call: (agent: Agent, requestId: string) => Promise<Answer>,
): Promise<{ requestId: string; answer: Answer; retry: Agent }> {
  const proxy = await startDroppingProxy(service.url);
  const client = createHoldfast({ url: proxy.url, token, executionId, attempts: 1 });
  onTestFinished(() => client.close());
  await client.projects.whoAmI({});
  const requestId = randomUUID();
  proxy.dropReplies();
  const lost = call(new Agent(client), requestId).catch((error: unknown) => error);
  await expect.poll(() => remembered(requestId), { interval: 5 }).toBe(1);
  proxy.cut();
  expect(ConnectError.from(await lost).code).toBeOneOf([Code.Unavailable, Code.Aborted, Code.Canceled]);
  const retry = new Agent(service.client(token, executionId));
  return { requestId, answer: await call(retry, requestId), retry };
}

const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'done',
    (error: unknown) => Code[ConnectError.from(error).code],
  );

const eventsOf = async (taskId: string, ...kinds: number[]) =>
  (await sql`SELECT id FROM event WHERE task_id = ${taskId} AND kind = ANY(${kinds})`).length;

/** A task and a lease on it. */
async function held(executionId: string): Promise<Held> {
  return new Agent(service.client(token, executionId)).acquire(await person.createTask());
}

test('an acquire whose answer was lost is answered with the same lease', async () => {
  const taskId = await person.createTask();
  const { answer, requestId, retry } = await twice('run-acquire', (agent, id) =>
    agent.acquire(taskId, { requestId: id }),
  );
  expect(answer.fencingToken).toBe(1n);
  expect(await sql`SELECT id FROM lease WHERE task_id = ${taskId}`).toEqual([{ id: answer.leaseId }]);
  expect(await eventsOf(taskId, 15, 16)).toBe(1);
  // Asked once more, it is neither extended nor granted again.
  expect(await retry.acquire(taskId, { requestId })).toEqual(answer);
  expect(await codeOf(retry.acquire(taskId, { requestId, ttlMs: 5_000 }))).toBe('AlreadyExists');
  expect(await codeOf(retry.acquire(await person.createTask(), { requestId }))).toBe('AlreadyExists');
  // Once that lease is over, the answer says so: never a second one.
  await retry.release(answer);
  const after = await retry.ask(taskId, { requestId });
  expect(after).toMatchObject({ case: 'refusal', value: { endedLease: { id: answer.leaseId } } });
  expect(await brokenRules(service.databaseUrl)).toEqual([]);
});

test('a creation whose answer was lost made one task', async () => {
  const { answer, requestId, retry } = await twice('run-create', (agent, id) =>
    agent.createTask('made once', id),
  );
  expect(await sql`SELECT id FROM task WHERE title = 'made once'`).toEqual([{ id: answer }]);
  expect(await eventsOf(answer, 1)).toBe(1);
  expect(await codeOf(retry.createTask('something else', requestId))).toBe('AlreadyExists');
});

test('a completion whose answer was lost is answered as done', async () => {
  const lease = await held('run-complete');
  const { answer, requestId, retry } = await twice('run-complete', (agent, id) =>
    agent.complete(lease, { result: 'the result', requestId: id }),
  );
  expect(answer.task).toMatchObject({ status: TaskStatus.DONE, result: 'the result' });
  expect(await eventsOf(lease.taskId, 4)).toBe(1);
  expect(await codeOf(retry.complete(lease, { result: 'another', requestId }))).toBe('AlreadyExists');
  // The proof that completed it does as well as the request's id.
  expect((await retry.complete(lease, { result: 'another' })).task?.result).toBe('the result');
  expect(await eventsOf(lease.taskId, 4)).toBe(1);
});

test('a note whose answer was lost is there once', async () => {
  const lease = await held('run-note');
  const { answer, requestId, retry } = await twice('run-note', (agent, id) =>
    agent.note(lease, 'half done', id),
  );
  const notes = await sql`SELECT id, text FROM note WHERE task_id = ${lease.taskId}`;
  expect(notes).toEqual([{ id: answer.note?.id, text: 'half done' }]);
  expect(await eventsOf(lease.taskId, 10)).toBe(1);
  expect(await codeOf(retry.note(lease, 'another', requestId))).toBe('AlreadyExists');
  expect(await brokenRules(service.databaseUrl)).toEqual([]);
});

test('the same request many times at once is done once, and all are told the same', async () => {
  const taskId = await person.createTask();
  const agents = Array.from({ length: 8 }, () => new Agent(service.client(token, 'run-many')));
  const requestId = randomUUID();
  const grants = await Promise.all(agents.map((agent) => agent.acquire(taskId, { requestId })));
  expect(new Set(grants.map(({ leaseId }) => leaseId)).size).toBe(1);
  const lease = grants[0] as Held;
  await Promise.all(agents.map((agent) => agent.note(lease, 'once', requestId)));
  expect(await eventsOf(taskId, 10)).toBe(1);
  const created = await Promise.all(agents.map((agent) => agent.createTask('created once', requestId)));
  expect(new Set(created).size).toBe(1);
  expect(await brokenRules(service.databaseUrl)).toEqual([]);
});
