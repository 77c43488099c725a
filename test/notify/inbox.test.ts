import { randomUUID } from 'node:crypto';
import { EventKind } from '@holdfast/proto/history';
import { beforeAll, describe, expect, test } from 'vitest';
import { DAY, HOUR, SECOND } from '../../src/domain/instant.js';
import { newId } from '../../src/rpc/ids.js';
import { openDatabase } from '../../src/store/database.js';
import { forgetAcknowledged } from '../../src/store/notifications.js';
import { createStore, type Store } from '../../src/store/store.js';
import { createToken } from '../../src/store/tokens.js';
import { Agent } from '../support/agent.js';
import { DEFAULT_SETTINGS, startTestService } from '../support/service.js';
import { type Project, startProject } from './project.js';

let project: Project;
beforeAll(async () => {
  project = await startProject();
});

/** A person of a project, by default a new one with a role of its own. */
async function person(
  role: 'viewer' | 'member' | 'admin' = 'viewer',
  name: string = randomUUID(),
  where = 'default',
) {
  const { service } = project;
  return service.client(await service.token('PERSON', role, name, where), 'desk');
}

type Client = Awaited<ReturnType<typeof person>>;

async function inboxOf(who: Client, request = {}) {
  return (await who.history.listNotifications({ pageSize: 1_000, ...request })).notifications;
}

/** The tasks that somebody was told of. */
const toldOf = async (who: Client, request = {}) =>
  (await inboxOf(who, request)).map(({ event }) => event?.taskId);

test('each person on the project is told once of an expiry, with the last note', async () => {
  const { owner, clock } = project;
  const people = [owner.holdfast, await person('admin'), await person('member'), await person('viewer')];
  const [taskId = ''] = await project.tasks(1);
  const held = await owner.acquire(taskId, { ttlMs: 1_000 });
  await owner.note(held, 'half of it is done');
  await clock.advance(2 * SECOND);
  await owner.renew(held).catch(() => {});
  for (const who of people) {
    const notifications = await inboxOf(who);
    expect(notifications).toHaveLength(1);
    expect(notifications[0]).toMatchObject({
      acknowledged: false,
      event: {
        kind: EventKind.LEASE_EXPIRED,
        project: 'default',
        taskId,
        fencingToken: 1n,
        payload: {
          case: 'leaseEnded',
          value: { holder: { principal: 'owner', executionId: 'run' }, lastNote: 'half of it is done' },
        },
      },
    });
    const { events } = await who.history.listHistory({ taskId, kinds: [EventKind.LEASE_EXPIRED] });
    expect(notifications[0]?.event).toEqual(events[0]);
  }
});

test('somebody with two tokens is one person; one who came later, or is gone, is not told', async () => {
  const { service, owner, sql } = project;
  const twice = await person('viewer', 'twice');
  await person('member', 'twice');
  const gone = await owner.holdfast.projects.createToken({ principal: 'gone', kind: 2, role: 2 });
  await owner.holdfast.projects.revokeToken({ tokenId: gone.tokenId });
  await owner.holdfast.projects.createToken({
    principal: 'brief',
    kind: 2,
    role: 2,
    expiresIn: { seconds: 1n, nanos: 0 },
  });
  await service.token('AGENT', 'agent', 'ada');
  const [taskId = ''] = await project.tasks(1);
  await project.expire(taskId);
  expect(await toldOf(twice)).toEqual([taskId]);
  expect(await toldOf(await person())).toEqual([]);
  const rows = await sql`SELECT principal FROM notification WHERE task_id = ${taskId}`;
  const told = rows.map(({ principal }) => principal);
  expect(told).toContain('owner');
  for (const nobody of ['gone', 'brief', 'ada']) expect(told).not.toContain(nobody);
});

test('visitors share a token and have no inbox; a person of their name has one', async () => {
  const open = await startTestService({ databaseUrl: project.databaseUrl, signIn: { visitors: true } });
  const answer = await fetch(`${open.url}/sign-in`, { method: 'POST', body: '{"visitor":true}' });
  const visitor = open.client(((await answer.json()) as { token: string }).token);
  expect(await visitor.projects.whoAmI({})).toMatchObject({ principal: 'visitor' });
  const [first = '', second = ''] = await project.tasks(2);
  await project.expire(first);
  expect(await toldOf(visitor)).toEqual([]);
  expect(await project.sql`SELECT 1 FROM notification WHERE principal = 'visitor'`).toHaveLength(0);
  const namesake = await person('viewer', 'visitor');
  await project.expire(second);
  expect(await toldOf(namesake)).toEqual([second]);
});

test('an owner is on every project, and is not somebody of the same name there', async () => {
  const { owner } = project;
  await owner.holdfast.projects.createProject({ project: 'elsewhere' });
  const namesake = await person('viewer', 'owner', 'elsewhere');
  const local = await person('member', 'mia', 'elsewhere');
  const worker = new Agent(local);
  const taskId = await worker.createTask();
  const held = await worker.acquire(taskId, { ttlMs: 1_000 });
  await project.clock.advance(2 * SECOND);
  await worker.renew(held).catch(() => {});
  expect(await toldOf(owner.holdfast, { project: 'elsewhere' })).toEqual([taskId]);
  expect(await toldOf(owner.holdfast)).not.toContain(taskId);
  expect(await toldOf(namesake)).toEqual([taskId]);
  const ids = (await inboxOf(owner.holdfast, { project: 'elsewhere' })).map(({ id }) => id);
  expect(await namesake.history.acknowledgeNotifications({ ids })).toMatchObject({ acknowledged: 0 });
  expect(await owner.holdfast.history.acknowledgeNotifications({ project: 'elsewhere', ids })).toMatchObject({
    acknowledged: 1,
  });
  expect(await toldOf(namesake)).toEqual([taskId]);
  expect(await toldOf(owner.holdfast, { project: 'elsewhere' })).toEqual([]);
});

test('a quarantine is told, too; what people do themselves is not', async () => {
  const who = await person();
  const { owner } = project;
  await owner.holdfast.projects.updateProject({ settings: { maxExpiries: 1 } });
  const [taskId = '', other = ''] = await project.tasks(2);
  await project.expire(taskId);
  await owner.holdfast.projects.updateProject({ settings: { maxExpiries: 0 } });
  await owner.holdfast.tasks.requeueTask({ taskId });
  await owner.acquire(other);
  await owner.holdfast.leases.forceReleaseLease({ taskId: other, reason: 'stuck' });
  await owner.holdfast.tasks.dropTask({ taskId: other });
  expect((await inboxOf(who)).map(({ event }) => event?.kind)).toEqual([
    EventKind.TASK_QUARANTINED,
    EventKind.LEASE_EXPIRED,
  ]);
});

describe('acknowledging', () => {
  let who: Client;
  let ids: string[];
  let tasks: string[];
  beforeAll(async () => {
    who = await person();
    tasks = await project.tasks(3);
    for (const taskId of tasks) await project.expire(taskId);
    ids = (await inboxOf(who)).map(({ id }) => id);
  });

  test('is counted once, and takes a notification off the list', async () => {
    const [newest = ''] = ids;
    const acknowledge = (some: string[]) => who.history.acknowledgeNotifications({ ids: some });
    expect(await acknowledge([newest, newest, 'unknown'])).toMatchObject({ acknowledged: 1 });
    expect(await acknowledge([newest])).toMatchObject({ acknowledged: 0 });
    expect(await toldOf(who)).toEqual([tasks[1], tasks[0]]);
    const all = await inboxOf(who, { includeAcknowledged: true });
    expect(all.map(({ id, acknowledged }) => [id, acknowledged])).toEqual(
      ids.map((id) => [id, id === newest]),
    );
  });

  test('touches nobody else’s', async () => {
    const { history } = await person();
    expect(await history.acknowledgeNotifications({ ids })).toMatchObject({ acknowledged: 0 });
    expect(await inboxOf(who)).toHaveLength(2);
  });

  test('needs ids', async () => {
    await expect(who.history.acknowledgeNotifications({ ids: [] })).rejects.toThrow(/ids/);
    const many = Array.from({ length: 1_001 }, String);
    await expect(who.history.acknowledgeNotifications({ ids: many })).rejects.toThrow(/ids/);
  });
});

test('pages tell each notification once, newest first', async () => {
  const who = await person();
  const tasks = await project.tasks(7);
  for (const taskId of tasks) await project.expire(taskId);
  const found: string[] = [];
  let pageToken = '';
  do {
    const page = await who.history.listNotifications({ pageSize: 3, pageToken });
    found.push(...page.notifications.map(({ event }) => event?.taskId ?? ''));
    pageToken = page.nextPageToken;
    // One more, which is newer than all pages.
    if (found.length === 3) await project.expire(...(await project.tasks(1)));
  } while (pageToken);
  expect(found).toEqual(tasks.toReversed());
});

test('a notification outlives its event', async () => {
  const who = await person();
  const [taskId = ''] = await project.tasks(1);
  await project.expire(taskId);
  const before = await inboxOf(who);
  await project.sql`DELETE FROM event WHERE task_id = ${taskId}`;
  expect(await inboxOf(who)).toEqual(before);
  expect(before).toHaveLength(1);
});

describe('at the store', () => {
  let store: Store;
  beforeAll(() => {
    const database = openDatabase({ url: project.databaseUrl, poolSize: 2 });
    store = createStore(database, DEFAULT_SETTINGS, {
      eventsWritten() {},
      tasksReady() {},
      deadlineSet() {},
    });
    return () => database.close();
  });

  test('read notifications are forgotten after thirty days, unread ones never', async () => {
    const who = await person();
    const tasks = await project.tasks(2);
    for (const taskId of tasks) await project.expire(taskId);
    const [newest] = await inboxOf(who);
    await who.history.acknowledgeNotifications({ ids: [newest?.id ?? ''] });
    await project.clock.advance(30 * DAY - HOUR);
    await forgetAcknowledged(store, 1_000);
    expect(await inboxOf(who, { includeAcknowledged: true })).toHaveLength(2);
    await project.clock.advance(2 * HOUR);
    expect(await forgetAcknowledged(store, 1_000)).toBeGreaterThan(0);
    expect((await inboxOf(who, { includeAcknowledged: true })).map(({ event }) => event?.taskId)).toEqual([
      tasks[0],
    ]);
  });

  test('of many projects and events none is left out', async () => {
    const { owner, sql } = project;
    const names = Array.from({ length: 60 }, (_, n) => `many-${n}`);
    await Promise.all(names.map((name) => owner.holdfast.projects.createProject({ project: name })));
    await createToken(store, 'many-7', tokenOf('mia'), undefined);
    // As the expiries of many tasks would: these rows differ in nothing that matters here.
    await sql`
      INSERT INTO event (project, kind, at, task_id, fencing_token, payload)
      SELECT p, 18, holdfast_now(), 'task ' || n, 1,
        '{"holder": {"principal": "a", "executionId": "b"}, "cause": "EXPIRED", "expiresAt": 1}'::jsonb
      FROM unnest(${sql.array(names)}::text[]) p, generate_series(1, 3) n
      UNION ALL SELECT 'many-7', 18, holdfast_now(), 'more ' || n, 1,
        '{"holder": {"principal": "a", "executionId": "b"}, "cause": "EXPIRED", "expiresAt": 1}'::jsonb
      FROM generate_series(1, 250) n`;
    for (const name of names) {
      const told = await inboxOf(owner.holdfast, { project: name });
      expect([name, told.length]).toEqual([name, name === 'many-7' ? 253 : 3]);
    }
    const rows =
      await sql`SELECT count(*)::int AS n FROM notification WHERE principal = 'mia' AND project = 'many-7'`;
    expect(rows[0]?.n).toBe(253);
  });
});

const tokenOf = (principal: string) =>
  ({
    id: newId(),
    hash: Buffer.from(randomUUID()),
    principal,
    kind: 'PERSON',
    role: 'viewer',
    owner: false,
    lifetime: undefined,
  }) as const;
