import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createHoldfast, type Holdfast } from '@holdfast/client';
import { PrincipalKind } from '@holdfast/proto/history';
import { Role } from '@holdfast/proto/project';
import { TaskStatus } from '@holdfast/proto/task';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../support/postgres.js';
import { lineWith, noTraces, TracedCli } from './demo-traces.js';
import { Cli } from './holdfast-process.js';

let serverCli: Cli;
let serving: ReturnType<Cli['start']> | undefined;
let url: string;
let owner: Holdfast;
let cli: TracedCli;

beforeAll(async () => {
  const database = await createTestDatabase();
  serverCli = new Cli({ DATABASE_URL: database.url, LOG_LEVEL: 'warn' });
  serving = serverCli.start('serve', '--port', '0', '--json');
  url = JSON.parse(await lineWith(serving.child, '"url"')).url;
  // The owner's token is found in the server's data folder.
  cli = new TracedCli({ HOLDFAST_DATA: serverCli.folder });
  owner = createHoldfast({ url, token: readFileSync(join(serverCli.folder, 'admin-token'), 'utf8').trim() });
});
afterAll(async () => {
  owner?.close();
  serving?.child.kill('SIGTERM');
  await serving?.outcome;
  cli?.remove();
  serverCli?.remove();
});

describe('demo --against', { timeout: 60_000 }, () => {
  it('plays in a project of its own, which stays and is named', async () => {
    const { code, stdout, stderr } = await cli.run('demo', '--against', url);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('All as told.');
    const project = /The project (demo-\w+) stays/.exec(stdout)?.[1] ?? '';
    const { tasks } = await owner.tasks.listTasks({ project });
    expect(tasks.map(({ status }) => TaskStatus[status])).toEqual(['DONE', 'DONE']);
    expect((await owner.tasks.listTasks({ project: 'default' })).tasks).toEqual([]);
    expect(cli.traces()).toEqual(noTraces);
  });

  it('exits 1 and says what differed when something else happens', async () => {
    const { child, outcome } = cli.start('demo', '--against', url);
    await lineWith(child, 'is killed');
    // Somebody takes the dead agent's lease away before it runs out.
    const { projects } = await owner.projects.listProjects({});
    const mine = await Promise.all(
      projects.map(async ({ id }) => {
        const { leases } = await owner.leases.listLeases({ project: id });
        return leases.map((lease) => ({ project: id, taskId: lease.taskId }));
      }),
    );
    const held = mine.flat();
    expect(held).toHaveLength(1);
    await owner.leases.forceReleaseLease({ ...held[0], reason: 'to see whether the demo notices' });
    const { code, stdout } = await outcome;
    expect(code).toBe(1);
    expect(stdout).toContain('Not as told.');
    expect(stdout).toContain("the lease's expiry is in the history: expected there, was nothing");
    expect(stdout).toContain('the demo did not get that far');
    expect(cli.traces()).toEqual(noTraces);
  });

  it("refuses a token that is not the owner's, and says what to do", async () => {
    const made = await owner.projects.createToken({
      principal: 'ann',
      kind: PrincipalKind.PERSON,
      role: Role.ADMIN,
    });
    const { code, stdout, stderr } = await cli.run('demo', '--against', url, '--token', made.token);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain("only the owner of the server can; the token is ann's");
    expect(stderr).toContain('leave --against away');
  });

  it('says so when nothing listens there', async () => {
    const { code, stdout, stderr } = await cli.run('demo', '--json', '--against', 'http://127.0.0.1:1');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: 'UNAVAILABLE', message: expect.stringContaining('Is the server running?') },
    });
  });

  it.each([
    { args: ['--tokens'], says: '--tokens goes with --seed' },
    { args: ['--project', 'x'], says: 'the demo makes its own' },
    { args: ['--against', 'nowhere'], says: "is not a server's address" },
  ])('exits 2 for wrong usage: $args', async ({ args, says }) => {
    const { code, stderr } = await cli.run('demo', ...args);
    expect(stderr).toContain(says);
    expect(code).toBe(2);
  });
});

describe('demo --seed', { timeout: 60_000 }, () => {
  it('makes a plan and prints a prompt that works for two agents', async () => {
    const { code, stdout } = await cli.run('demo', '--seed', '--tokens', '--json', '--against', url);
    expect(code).toBe(0);
    const { plan, steps, agents, prompt } = JSON.parse(stdout);
    expect(steps).toHaveLength(2);
    expect(prompt).toContain(`holdfast plan show ${plan.id}`);
    expect(prompt).toContain(`holdfast claim ${steps[0].id} --ttl 5m`);

    const [one, two] = agents.map(
      ({ token, executionId }: { token: string; executionId: string }) =>
        new Cli({ HOLDFAST_URL: url, HOLDFAST_TOKEN: token, HOLDFAST_EXECUTION_ID: executionId }),
    ) as [Cli, Cli];
    try {
      expect(await one.run('claim', steps[0].id, '--ttl', '5m')).toMatchObject({ code: 0 });
      const refused = await two.run('claim', steps[0].id, '--ttl', '5m');
      expect(refused.code).toBe(3);
      expect(refused.stderr).toContain('agent-1');
      expect(await two.run('claim', steps[1].id, '--ttl', '5m')).toMatchObject({ code: 0 });
      expect(await one.run('task', 'note', steps[0].id, 'half done: two lines')).toMatchObject({ code: 0 });
      expect(await one.run('task', 'done', steps[0].id, '--result', 'a poem')).toMatchObject({ code: 0 });
      expect(await two.run('release', steps[1].id, '--note', 'no rhymes left')).toMatchObject({ code: 0 });
    } finally {
      one.remove();
      two.remove();
    }
    const { plan: after } = await owner.tasks.getPlan({ planId: plan.id });
    expect([after?.stepsDone, after?.stepsTotal]).toEqual([1, 2]);
  });

  it('makes no tokens unless it is asked to', async () => {
    const { code, stdout } = await cli.run('demo', '--seed', '--against', url);
    expect(code).toBe(0);
    expect(stdout).not.toContain('hf_');
    expect(stdout).toContain('export HOLDFAST_TOKEN=$(npx holdfast token create agent-1');
    expect(stdout).toContain('export HOLDFAST_EXECUTION_ID=agent-2-');
    expect(stdout).toContain('The project is in WARN');
  });
});
