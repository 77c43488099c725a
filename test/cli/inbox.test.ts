import { createHoldfast, type Holdfast } from '@holdfast/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Cli } from './holdfast-process.js';
import { type RealServer, startRealServer } from './real-server.js';

let server: RealServer;
let owner: Holdfast;
let cli: Cli;
let project = '';
let projects = 0;

beforeAll(async () => {
  server = await startRealServer();
  owner = createHoldfast({ url: server.url, token: server.ownerToken, executionId: 'run' });
});
afterAll(async () => {
  owner?.close();
  await server?.stop();
});
beforeEach(async () => {
  project = `inbox-${++projects}`;
  await owner.projects.createProject({ project });
  cli = new Cli({ HOLDFAST_URL: server.url, HOLDFAST_TOKEN: server.ownerToken, HOLDFAST_PROJECT: project });
});
afterEach(() => cli.remove());

/** Runs the command and reads its JSON. */
async function json(...args: string[]) {
  const { code, stdout, stderr } = await cli.run(...args, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

/** A task whose holder noted something and was not heard of again. */
async function abandon(note: string): Promise<string> {
  const { task } = await owner.tasks.createTask({ project, title: 'x' });
  const taskId = task?.id ?? '';
  const { outcome } = await owner.leases.acquireLease({
    project,
    taskId,
    executionId: 'run',
    ttl: { seconds: 1n, nanos: 0 },
  });
  if (outcome.case !== 'grant' || !outcome.value.lease) throw new Error('refused');
  const { id: leaseId, fencingToken } = outcome.value.lease;
  await owner.tasks.addNote({
    project,
    taskId,
    executionId: 'run',
    text: note,
    proof: { leaseId, fencingToken },
  });
  const told = async () =>
    (await owner.history.listNotifications({ project })).notifications.some(
      ({ event }) => event?.taskId === taskId,
    );
  await expect.poll(told, { timeout: 10_000 }).toBe(true);
  return taskId;
}

describe('inbox', () => {
  it('lists what was abandoned, with the last note, until it is acknowledged', async () => {
    expect(await cli.run('inbox')).toMatchObject({ code: 0, stdout: 'Nothing new.\n' });
    const taskId = await abandon('got half way');
    const { stdout } = await cli.run('inbox');
    expect(stdout).toMatch(
      new RegExp(`LEASE_EXPIRED +${taskId} +expired: owner \\(execution run\\); got half way\n$`),
    );
    expect((await json('inbox')).notifications).toMatchObject([{ acknowledged: false, event: { taskId } }]);

    const acknowledged = await cli.run('inbox', '--ack');
    expect(acknowledged).toMatchObject({ code: 0, stdout, stderr: 'Marked 1 notification as read.\n' });
    expect(await cli.run('inbox', '--ack')).toMatchObject({ stdout: 'Nothing new.\n', stderr: '' });
    expect((await json('inbox', '--all')).notifications).toMatchObject([{ acknowledged: true }]);
  });

  it('is not for agents', async () => {
    const { token } = await owner.projects.createToken({ project, principal: 'ada', kind: 1, role: 1 });
    const result = await new Cli({ HOLDFAST_URL: server.url, HOLDFAST_TOKEN: token }).run('inbox');
    expect(result).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('agent') });
  });
});

describe('project webhooks', () => {
  // Nothing is ever sent there: no lease of these projects expires.
  const url = 'https://8.8.8.8/hook';

  it('are added with a secret that is shown once, and listed with their failures', async () => {
    const added = await cli.run('project', 'webhooks', 'add', url);
    expect(added).toMatchObject({ code: 0, stdout: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=\n$/) });
    const [, id = ''] = /^Webhook (\S+)\. .*Keep it: it is never shown again\.\n$/.exec(added.stderr) ?? [];
    const listed = await cli.run('project', 'webhooks');
    expect(listed.stdout).toMatch(new RegExp(`^ID .*\n${id} +0 +0 +${url}\n$`));
    const answer = await json('project', 'webhooks', 'list');
    expect(answer).toMatchObject({ webhooks: [{ id, url, pending: 0, dead: 0, lastError: '' }] });
    expect(JSON.stringify(answer)).not.toContain(added.stdout.trim());
  });

  it('are removed', async () => {
    const { webhook } = await owner.projects.createWebhook({ project, url });
    const id = webhook?.id ?? '';
    const removed = await cli.run('project', 'webhooks', 'remove', id);
    expect(removed).toMatchObject({ code: 0, stdout: `Removed webhook ${id}.\n` });
    expect(await cli.run('project', 'webhooks', 'remove', id)).toMatchObject({ code: 1 });
    expect(await cli.run('project', 'webhooks')).toMatchObject({ code: 0, stdout: 'No webhooks.\n' });
  });

  it('are refused at an address of this machine, with the setting that allows it', async () => {
    const { code, stderr } = await cli.run('project', 'webhooks', 'add', 'http://localhost:8080/');
    expect(code).not.toBe(0);
    expect(stderr).toContain('WEBHOOK_ALLOW_PRIVATE=true');
  });
});
