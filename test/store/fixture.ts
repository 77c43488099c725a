import { randomUUID } from 'node:crypto';
import type { Sql } from 'postgres';
import { afterAll } from 'vitest';
import { decideAcquire } from '../../src/domain/acquire.js';
import type { Actor } from '../../src/domain/event.js';
import { MINUTE } from '../../src/domain/instant.js';
import type { Caller } from '../../src/domain/principal.js';
import { createTask } from '../../src/store/create-task.js';
import { openDatabase } from '../../src/store/database.js';
import { mutate, type Outcome } from '../../src/store/mutate.js';
import type { TaskRead } from '../../src/store/read-task.js';
import type { RequestKey } from '../../src/store/requests.js';
import { createStore, type Store } from '../../src/store/store.js';
import { connect, createTestDatabase } from '../support/postgres.js';
import { DEFAULT_SETTINGS } from '../support/service.js';

export const PROJECT = 'default';
export const MIA: Caller = {
  principal: 'mia',
  kind: 'PERSON',
  role: 'member',
  owner: false,
  executionId: undefined,
};
export const ADA: Caller = {
  principal: 'ada',
  kind: 'AGENT',
  role: 'agent',
  owner: false,
  executionId: 'run-1',
};
const ACTOR: Actor = { principal: 'mia', kind: 'PERSON', executionId: undefined };

/** One database with several stores on it, each with connections of its own, as replicas have. */
export interface Stores {
  readonly url: string;
  readonly stores: readonly [Store, ...Store[]];
  /** A plain client for looking at the tables. */
  readonly sql: Sql;
}

const closing: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  await Promise.all(closing.map((close) => close()));
});

export async function openStores(count = 1): Promise<Stores> {
  const { url } = await createTestDatabase();
  const open = () => {
    const database = openDatabase({ url, poolSize: 4 });
    closing.push(() => database.close());
    return createStore(database, DEFAULT_SETTINGS, { eventsWritten() {}, tasksReady() {}, deadlineSet() {} });
  };
  const sql = connect(url, { max: 4 });
  closing.push(() => sql.end());
  return { url, stores: [open(), ...Array.from({ length: count - 1 }, open)], sql };
}

export interface TaskOptions {
  readonly externalKey?: string;
  readonly title?: string;
  readonly request?: RequestKey;
}

/** @returns the new task's id */
export async function newTask(store: Store, { externalKey, title = 'a task', request }: TaskOptions = {}) {
  const id = randomUUID();
  const task = {
    id,
    title,
    body: '',
    priority: 0,
    labels: [],
    planId: undefined,
    blockedBy: [],
    parent: undefined,
    graphVersion: undefined,
    depsVersions: {},
    externalKey,
    assignee: '',
  };
  await createTask(store, PROJECT, task, ACTOR, request);
  return id;
}

export async function look(store: Store, taskId: string): Promise<TaskRead> {
  const { found } = await store.read({ project: PROJECT, taskId });
  if (!found) throw new Error(`there is no task ${taskId}`);
  return found;
}

export interface AcquireOptions {
  readonly who?: Caller;
  readonly ttl?: number;
  readonly request?: RequestKey;
}

/** Acquires as the service does. */
export function acquire(
  store: Store,
  taskId: string,
  { who = ADA, ttl = MINUTE, request }: AcquireOptions = {},
) {
  const executionId = who.executionId ?? 'desk';
  return mutate(store, {
    project: PROJECT,
    taskId,
    along: { execution: { principal: who.principal, id: executionId } },
    request,
    decide: (read) =>
      decideAcquire(read, who, read.execution === 'ENDED', { executionId, ttl, leaseId: randomUUID() }),
  });
}

export const granted = (outcome: Outcome<{ readonly kind: string }>) =>
  outcome.kind === 'DONE' && outcome.answer.kind === 'GRANTED';

/** Everything that the database holds, to see that a statement changed nothing. */
export async function everything(sql: Sql): Promise<Record<string, unknown>> {
  const tables = ['task', 'task_state', 'lease', 'note', 'event', 'request', 'fence', 'execution', 'plan'];
  const rows = tables.map(
    async (table) => [table, await sql`SELECT t::text FROM ${sql(table)} t ORDER BY 1`] as const,
  );
  return Object.fromEntries(
    (await Promise.all(rows)).map(([table, found]) => [table, found.map((row) => row.t)]),
  );
}
