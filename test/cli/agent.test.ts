import { createHoldfast, type Holdfast } from '@holdfast/client';
import { PrincipalKind } from '@holdfast/proto/history';
import { Role } from '@holdfast/proto/project';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Cli } from './holdfast-process.js';
import { type RealServer, startRealServer } from './real-server.js';

let server: RealServer;
let owner: Holdfast;
let people: Cli;
let agent: Cli;
let taskId: string;

beforeAll(async () => {
  server = await startRealServer();
  owner = createHoldfast({ url: server.url, token: server.ownerToken });
  people = new Cli({ HOLDFAST_URL: server.url, HOLDFAST_TOKEN: server.ownerToken });
  const { stdout } = await people.run('token', 'create', 'Builder');
  agent = new Cli({ HOLDFAST_URL: server.url, HOLDFAST_TOKEN: stdout.trim() });
});
afterAll(async () => {
  people?.remove();
  agent?.remove();
  owner?.close();
  await server?.stop();
});

beforeEach(async () => {
  const { task } = await owner.tasks.createTask({ title: 'Build it' });
  taskId = task?.id ?? '';
  agent.env.HOLDFAST_EXECUTION_ID = `run-${taskId}`;
});

describe('an agent and its admin, on a real server in ENFORCE', () => {
  it('makes a token that is alone on stdout and stands for an agent', async () => {
    const { stdout, stderr } = await people.run('token', 'create', 'another');
    expect(stdout).toMatch(/^hf_\S+\n$/);
    expect(stderr).not.toContain(stdout.trim());
    const me = await agent.run('whoami', '--json');
    expect(JSON.parse(me.stdout)).toMatchObject({
      principal: 'builder',
      kind: `PRINCIPAL_KIND_${PrincipalKind[PrincipalKind.AGENT]}`,
      role: `ROLE_${Role[Role.AGENT]}`,
    });
  });

  it('claims, notes, renews and completes with nothing but its execution id', async () => {
    expect(await agent.run('task', 'note', taskId, 'too early')).toMatchObject({ code: 3 });
    expect(await agent.run('claim', taskId)).toMatchObject({ code: 0 });
    expect(await agent.run('task', 'note', taskId, 'half done')).toMatchObject({ code: 0 });
    expect(await agent.run('renew', taskId, '--progress', '80 %')).toMatchObject({ code: 0 });
    expect(await agent.run('renew')).toMatchObject({ code: 0, stdout: expect.stringContaining('ACTIVE') });
    const done = await agent.run('task', 'done', taskId, '--result', 'merged');
    expect(done).toMatchObject({ code: 0, stdout: expect.stringMatching(/^DONE/) });
    const again = await agent.run('task', 'done', taskId, '--result', 'merged');
    expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/^DONE/) });
  });

  it('is told to stop after its lease was taken away', async () => {
    await agent.run('claim', taskId);
    const forced = await people.run('force-release', taskId, '--reason', 'it hangs');
    expect(forced).toMatchObject({ code: 0, stdout: expect.stringContaining('from builder') });
    for (const late of [
      ['task', 'done', taskId],
      ['renew', taskId],
    ]) {
      const { code, stderr } = await agent.run(...late);
      expect(code).toBe(3);
      expect(stderr).toContain('STALE_LOCK');
    }
  });

  it('leaves notes for the next holder, who sees them in its claim', async () => {
    await agent.run('claim', taskId);
    await agent.run('release', taskId, '--note', 'needs a Windows machine');
    agent.env.HOLDFAST_EXECUTION_ID = 'the-next';
    const { stdout } = await agent.run('claim', taskId);
    expect(stdout).toMatch(/attempt +2/);
    expect(stdout).toContain('needs a Windows machine');
    expect(stdout).toContain('that lease ended RELEASED');
  });

  it('holds nothing more after its execution ended', async () => {
    await agent.run('claim', taskId);
    const ended = await agent.run('end-execution');
    expect(ended.stdout).toContain('and with it 1 lease.');
    const { code, stderr } = await agent.run('claim', taskId);
    expect(code).toBe(3);
    expect(stderr).toContain('EXECUTION_ENDED');
  });

  it('lists what happened, newest first, by task and kind', async () => {
    await agent.run('claim', taskId);
    const { stdout } = await people.run('history', '--task', taskId, '--json');
    const { events } = JSON.parse(stdout);
    expect(events[0]).toMatchObject({
      kind: 'EVENT_KIND_LEASE_ACQUIRED',
      actor: 'builder',
      fencingToken: '1',
    });
    const table = await people.run('history', '--task', taskId, '--kind', 'task-created');
    expect(table.stdout).toMatch(/^POSITION .*\n\d+ .*TASK_CREATED .*Build it\n$/);
  });

  it('refuses what only admins may', async () => {
    const { code, stderr } = await agent.run('token', 'create', 'friend');
    expect(code).toBe(1);
    expect(stderr).toContain('Ask an admin of the project.');
  });

  it('changes a task, and its project, field by field', async () => {
    await people.run('task', 'update', taskId, '--priority', '-5', '--label', 'a', '--label', 'b');
    await people.run('task', 'update', taskId, '--title', 'Build it well');
    const shown = await people.run('task', 'show', taskId, '--json');
    const { title, priority, labels } = JSON.parse(shown.stdout).task;
    expect({ title, priority, labels }).toEqual({ title: 'Build it well', priority: -5, labels: ['a', 'b'] });
    await people.run('task', 'update', taskId, '--clear-labels');
    expect(JSON.parse((await people.run('task', 'show', taskId, '--json')).stdout).task.labels).toEqual([]);
  });

  it('makes a project with rules of its own', async () => {
    const { code, stdout } = await people.run(
      'project',
      'create',
      'web',
      '--max-ttl',
      '1h',
      '--max-age',
      '0',
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/max ttl +1h\n/);
    expect(stdout).toMatch(/max age +for ever/);
    expect(stdout).toMatch(/enforcement +ENFORCE \(the server's default\)/);
  });

  it('revokes a token at once', async () => {
    const made = await people.run('token', 'create', 'guest', '--role', 'viewer', '--json');
    const { token, tokenId } = JSON.parse(made.stdout);
    await people.run('token', 'revoke', tokenId);
    const { code, stderr } = await agent.run('whoami', '--token', token);
    expect(code).toBe(1);
    expect(stderr).toContain('holdfast token create');
    expect(stderr).not.toContain(token);
  });
});
