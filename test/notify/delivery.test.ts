import { EventKind } from '@holdfast/proto/history';
import { Webhook } from 'standardwebhooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { CLAIMED_FOR } from '../../src/domain/delivery.js';
import { DAY, MINUTE, SECOND } from '../../src/domain/instant.js';
import { type Project, startProject } from './project.js';
import { drop, isSigned, type Receiver, startReceiver } from './receiver.js';

let project: Project;
let receiver: Receiver;
let webhookId: string;
let secret: string;

beforeEach(async () => {
  [project, receiver] = await Promise.all([startProject({ webhookPollMs: 50 }), startReceiver()]);
  const made = await project.owner.holdfast.projects.createWebhook({ url: receiver.url });
  webhookId = made.webhook?.id ?? '';
  secret = made.secret;
});

const SOON = { timeout: 15_000, interval: 20 };

async function webhook() {
  const { webhooks } = await project.owner.holdfast.projects.listWebhooks({});
  return webhooks.find(({ id }) => id === webhookId);
}

const inbox = async () =>
  (await project.owner.holdfast.history.listNotifications({})).notifications.map(({ event }) => event?.kind);

/** Lets time pass until something holds, from one attempt to the next: none is late, however busy the machine is. */
async function passTime(until: () => void | Promise<void>): Promise<void> {
  await expect
    .poll(async () => {
      await project.clock.advance(await untilNextAttempt());
      try {
        await until();
        return 'it holds';
      } catch (error) {
        return error;
      }
    }, SOON)
    .toBe('it holds');
}

/** How long until a delivery is due, by the clock that stands still; 0 while one is due or under way. */
async function untilNextAttempt(): Promise<number> {
  const [row] = await project.sql`
    SELECT CASE WHEN bool_or(due_at IN (now, now + ${CLAIMED_FOR}::bigint)) THEN 0 ELSE greatest(0, min(due_at - now)) END
      AS pause
    FROM holdfast_now() AS now, (
      SELECT DISTINCT ON (webhook_id, task_id) due_at FROM webhook_delivery
      ORDER BY webhook_id, task_id, position) earliest`;
  return Number(row?.pause ?? 0);
}

test('an expiry is posted once, signed, as the API tells it', async () => {
  const [taskId = ''] = await project.tasks(1);
  await project.expire(taskId);
  await expect.poll(() => receiver.received.length, SOON).toBe(1);
  const [received] = receiver.received;
  if (!received) throw new Error('nothing was received');
  const headers = received.headers as Record<string, string>;
  const body = new Webhook(secret).verify(received.body, headers) as Record<string, unknown>;
  const { events } = await project.owner.holdfast.history.listHistory({ kinds: [EventKind.LEASE_EXPIRED] });
  expect(body).toEqual({
    type: 'lease.expired',
    timestamp: (body.data as { at: string }).at,
    data: {
      position: String(events[0]?.position),
      kind: 'EVENT_KIND_LEASE_EXPIRED',
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      project: 'default',
      taskId,
      fencingToken: '1',
      leaseEnded: {
        holder: { principal: 'owner', executionId: 'run' },
        cause: 'LEASE_END_CAUSE_EXPIRED',
        expiresAt: expect.stringMatching(/Z$/),
        expiriesInARow: 1,
      },
    },
  });
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'webhook-id': expect.stringMatching(/^msg_[0-9a-f]{32}$/),
  });
  await expect.poll(webhook, SOON).toMatchObject({ pending: 0, dead: 0, lastError: '' });
  expect(() => new Webhook(secret).verify(`${received.body} `, headers)).toThrow();
});

test('a receiver that fails, redirects and cuts gets each at least once, in the order of each task', async () => {
  const attempts = new Map<string, number>();
  receiver.answer = ({ id, position }) => {
    const attempt = (attempts.get(id) ?? 0) + 1;
    attempts.set(id, attempt);
    const failures = [500, drop, 302, 429];
    return attempt > 2 ? 200 : (failures[(attempt + position) % failures.length] ?? 500);
  };
  const tasks = await project.tasks(3);
  for (let n = 0; n < 4; n++) await project.expire(...tasks);
  await passTime(() => expect(new Set(receiver.taken().map(({ id }) => id)).size).toBe(12));
  for (const taskId of tasks) {
    const positions = receiver.received
      .filter((one) => one.taskId === taskId)
      .map(({ position }) => position);
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
    expect(new Set(positions).size).toBe(4);
  }
  // The same id in every attempt, and every attempt is signed.
  const ids = new Map(receiver.received.map(({ id, position }) => [position, id]));
  expect(receiver.received.every(({ id, position }) => ids.get(position) === id)).toBe(true);
  expect(receiver.received.every((received) => isSigned(received, secret))).toBe(true);
  await expect.poll(webhook, SOON).toMatchObject({ pending: 0, dead: 0, lastError: '' });
});

test('a task whose delivery hangs holds up no other task, but its own next one', async () => {
  const [slow = '', ...others] = await project.tasks(4);
  let release = () => {};
  receiver.answer = ({ taskId }) =>
    taskId === slow
      ? (response) => {
          release = () => response.writeHead(204).end();
        }
      : 204;
  await project.expire(slow);
  await expect.poll(() => receiver.received.length, SOON).toBe(1);
  for (let n = 0; n < 2; n++) await project.expire(slow, ...others);
  await expect.poll(() => receiver.taken().length, SOON).toBe(6);
  expect(receiver.received.filter(({ taskId }) => taskId === slow)).toHaveLength(1);
  receiver.answer = () => 204;
  release();
  await expect.poll(() => receiver.received.filter(({ taskId }) => taskId === slow).length, SOON).toBe(3);
});

test('a task whose delivery fails holds up no other task', async () => {
  const tasks = await project.tasks(12);
  receiver.answer = ({ taskId }) => (taskId === receiver.received[0]?.taskId ? 500 : 204);
  await project.expire(...tasks);
  await expect.poll(() => receiver.taken().length, SOON).toBe(11);
  expect(receiver.received).toHaveLength(12);
});

test('pauses grow, and are over when the clock says so', async () => {
  receiver.answer = () => 503;
  await project.expire(...(await project.tasks(1)));
  await expect.poll(webhook, SOON).toMatchObject({ pending: 1, lastError: 'answered 503' });
  const dueIn = async () => {
    const [row] = await project.sql`SELECT due_at - holdfast_now() AS due_in, attempts FROM webhook_delivery`;
    return { ...row, dueIn: Number(row?.due_in) };
  };
  for (const [attempt, pause] of [5, 10, 20, 40].entries()) {
    await expect
      .poll(dueIn, SOON)
      .toMatchObject({ attempts: attempt + 1, dueIn: expect.toSatisfy(near(pause)) });
    await project.clock.advance((await dueIn()).dueIn - 1);
    await project.clock.advance(1);
  }
});

const near = (seconds: number) => (pause: number) =>
  pause >= 0.8 * seconds * SECOND && pause <= 1.2 * seconds * SECOND;

test('what fails for a day is given up, and told once until a delivery gets through again', async () => {
  receiver.answer = () => 500;
  const [first = '', second = ''] = await project.tasks(2);
  await project.expire(first, second);
  await expect.poll(webhook, SOON).toMatchObject({ pending: 2, dead: 0, lastError: 'answered 500' });
  await project.clock.advance(DAY - MINUTE);
  await expect.poll(() => receiver.received.length, SOON).toBeGreaterThan(2);
  expect(await webhook()).toMatchObject({ pending: 2, dead: 0 });
  await passTime(async () => expect(await webhook()).toMatchObject({ pending: 0, dead: 2 }));
  expect(await webhook()).toMatchObject({ lastError: 'answered 500' });
  const failures = async () => {
    const { events } = await project.owner.holdfast.history.listHistory({
      kinds: [EventKind.WEBHOOK_FAILED],
    });
    return events.map(({ payload, actor, taskId }) => [payload.value, actor, taskId]);
  };
  const url = new URL(receiver.url).origin;
  expect(await failures()).toMatchObject([[{ webhookId, url, error: 'answered 500' }, '', '']]);
  expect((await inbox())[0]).toBe(EventKind.WEBHOOK_FAILED);
  // That it failed is not sent to the webhook itself, or it would fail for ever.
  expect(receiver.received.some(({ type }) => type !== 'lease.expired')).toBe(false);

  receiver.answer = () => 204;
  await project.expire(first);
  await expect.poll(webhook, SOON).toMatchObject({ pending: 0, dead: 2, lastError: '' });
  receiver.answer = () => 500;
  await project.expire(first);
  await passTime(async () => expect(await webhook()).toMatchObject({ pending: 0, dead: 3 }));
  expect(await failures()).toHaveLength(2);
});

test('a receiver that is gone is sent nothing more', async () => {
  receiver.answer = () => 500;
  const tasks = await project.tasks(2);
  await project.expire(...tasks);
  await expect.poll(() => receiver.received.length, SOON).toBe(2);
  receiver.answer = () => 410;
  await passTime(async () => expect(await webhook()).toMatchObject({ pending: 0, dead: 2 }));
  expect((await webhook())?.lastError).toMatch(/^answered 410 \(gone\): nothing more is sent/);
  expect((await inbox()).filter((kind) => kind === EventKind.WEBHOOK_FAILED)).toHaveLength(1);
  const attempts = receiver.received.length;
  await project.expire(...tasks);
  expect(await inbox()).toHaveLength(5);
  expect(await project.sql`SELECT 1 FROM webhook_delivery`).toHaveLength(0);
  expect(receiver.received).toHaveLength(attempts);
});

test('a webhook is sent what happens after its creation, and nothing once it is deleted', async () => {
  const { projects } = project.owner.holdfast;
  receiver.answer = () => 500;
  const [taskId = ''] = await project.tasks(1);
  await project.expire(taskId);
  await expect.poll(() => receiver.received.length, SOON).toBe(1);
  // An expiry that happened before the second one's creation, and is told after it.
  const session = await project.sql.reserve();
  await session`BEGIN`;
  await session`SELECT 1 FROM notification_head FOR UPDATE`;
  await project.expire(taskId);
  await project.clock.advance(SECOND);
  const later = await startReceiver();
  const made = await projects.createWebhook({ url: later.url });
  await session`ROLLBACK`;
  session.release();
  await expect.poll(inbox, SOON).toHaveLength(2);
  await projects.deleteWebhook({ webhookId });
  expect(await project.sql`SELECT 1 FROM webhook_delivery`).toHaveLength(0);
  await project.expire(taskId);
  await expect.poll(() => later.received.length, SOON).toBe(1);
  await project.clock.advance(DAY);
  expect([receiver.received.length, later.received.length]).toEqual([1, 1]);
  expect(isSigned(later.received[0] as never, made.secret)).toBe(true);
  const kinds = [EventKind.WEBHOOK_CREATED, EventKind.WEBHOOK_DELETED];
  const { events } = await project.owner.holdfast.history.listHistory({ kinds });
  expect(events.map(({ kind, actor }) => [kind, actor])).toEqual([
    [EventKind.WEBHOOK_CREATED, 'owner'],
    [EventKind.WEBHOOK_CREATED, 'owner'],
    [EventKind.WEBHOOK_DELETED, 'owner'],
  ]);
});

describe('with two servers', () => {
  test('each delivery is made once', async () => {
    await project.replica();
    const tasks = await project.tasks(15);
    for (let n = 0; n < 3; n++) await project.expire(...tasks);
    await expect.poll(async () => (await webhook())?.pending, SOON).toBe(0);
    await expect.poll(() => receiver.received.length, SOON).toBe(45);
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(45);
  });

  test('what a server is delivering when it stops is made by the other one at once', async () => {
    receiver.answer = () => () => {};
    await project.expire(...(await project.tasks(1)));
    await expect.poll(() => receiver.received.length, SOON).toBe(1);
    receiver.answer = () => 204;
    await project.replica();
    await project.service.stop();
    await expect.poll(() => receiver.taken().length, SOON).toBe(1);
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
  });
});

test('the secret is in the answer that made it and nowhere else', async () => {
  receiver.answer = () => 500;
  await project.expire(...(await project.tasks(1)));
  await expect.poll(() => receiver.received.length, SOON).toBe(1);
  const { holdfast } = project.owner;
  const withQuery = await holdfast.projects.createWebhook({
    url: `${receiver.url}/path-secret?key=query-secret`,
  });
  await project.clock.advance(2 * DAY);
  await expect.poll(async () => (await webhook())?.dead, SOON).toBe(1);
  await holdfast.projects.deleteWebhook({ webhookId: withQuery.webhook?.id ?? '' });
  const key = secret.replace('whsec_', '');
  const say = (value: unknown) => JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? String(v) : v));
  const history = say(await holdfast.history.listHistory({ pageSize: 1_000 }));
  const told = [
    history,
    say(await holdfast.projects.listWebhooks({})),
    say(await holdfast.history.listNotifications({})),
    project.service.logs.join(),
    say(receiver.received),
    await (await fetch(`${project.service.url}/metrics`)).text(),
    say(await project.sql`SELECT last_error FROM webhook`),
  ];
  for (const text of told) {
    expect(text).not.toContain(key);
    expect(text).not.toContain('secret of the receiver');
  }
  expect(history).toContain(webhookId);
  for (const part of ['path-secret', 'query-secret']) {
    expect([...told.slice(0, 1), ...told.slice(2)].join()).not.toContain(part);
  }
});

test('metrics tell the depth of the outbox and what came of attempts', async () => {
  receiver.answer = () => 500;
  await project.expire(...(await project.tasks(2)));
  await expect.poll(() => receiver.received.length, SOON).toBe(2);
  const metrics = async () => (await fetch(`${project.service.url}/metrics`)).text();
  await expect.poll(metrics, SOON).toMatch(/^holdfast_webhook_attempts_total\{result="WAITS"\} 2$/m);
  expect(await metrics()).toMatch(/^holdfast_webhook_outbox 2$/m);
});
