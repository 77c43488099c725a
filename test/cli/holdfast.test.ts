import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ScriptedServer, startScriptedServer } from '../client/scripted-server.js';
import { FakeHoldfast } from './fake-holdfast.js';
import { Cli } from './holdfast-process.js';

let fake: FakeHoldfast;
let server: ScriptedServer;
let cli: Cli;

beforeAll(async () => {
  server = await startScriptedServer((router) => {
    // One server, and a fresh fake behind it for each test.
    fake = new FakeHoldfast();
    fake.routes(router);
  });
});
afterAll(() => server.close());

beforeEach(() => {
  cli = new Cli({ HOLDFAST_URL: server.url, HOLDFAST_TOKEN: 'hf_test' });
  fake.tasks.length = 0;
  fake.plans.length = 0;
  fake.notes.length = 0;
  fake.leases.clear();
});
afterEach(() => cli.remove());

describe('settings', () => {
  it('says how to get a token when there is none', async () => {
    delete cli.env.HOLDFAST_TOKEN;
    const { code, stderr } = await cli.run('whoami');
    expect(code).toBe(2);
    expect(stderr).toContain('holdfast token create');
  });

  it("finds the local server's own token in the data folder", async () => {
    delete cli.env.HOLDFAST_TOKEN;
    writeFileSync(join(cli.folder, 'admin-token'), 'hf_local\n');
    expect(await cli.run('whoami')).toMatchObject({ code: 0 });
    expect(fake.tokensSeen).toContain('Bearer hf_local');
  });

  it('never sends that token to another machine', async () => {
    delete cli.env.HOLDFAST_TOKEN;
    writeFileSync(join(cli.folder, 'admin-token'), 'hf_local\n');
    const { code, stderr } = await cli.run('whoami', '--url', 'http://holdfast.example:7420');
    expect(code).toBe(2);
    expect(stderr).toContain('No token for http://holdfast.example:7420');
  });

  it('reads .env, and lets the environment and options win over it', async () => {
    delete cli.env.HOLDFAST_TOKEN;
    writeFileSync(join(cli.folder, '.env'), `HOLDFAST_TOKEN=hf_file\nHOLDFAST_URL=http://127.0.0.1:9\n`);
    await cli.run('whoami');
    cli.env.HOLDFAST_TOKEN = 'hf_environment';
    await cli.run('whoami');
    await cli.run('whoami', '--token', 'hf_option');
    expect([...fake.tokensSeen]).toEqual(
      expect.arrayContaining(['Bearer hf_file', 'Bearer hf_environment', 'Bearer hf_option']),
    );
  });

  it('says what to do when the token is not accepted, without telling it', async () => {
    const { code, stderr } = await cli.run('whoami', '--token', 'hf_wrong');
    expect(code).toBe(1);
    expect(stderr).toContain('Set HOLDFAST_TOKEN');
    expect(stderr).not.toContain('hf_wrong');
  });

  it('does not tell a token that can be none', async () => {
    const { code, stdout, stderr } = await cli.run('whoami', '--token', 'hf_with\nnewline');
    expect(code).toBe(2);
    expect(stdout + stderr).not.toContain('hf_with');
  });

  it('asks whether the server runs when nobody listens', async () => {
    const { code, stderr } = await cli.run('whoami', '--url', 'http://127.0.0.1:9');
    expect(code).toBe(1);
    expect(stderr).toContain('holdfast serve');
  });

  it('says that the server does not offer something yet', async () => {
    const { code, stderr } = await cli.run('task', 'dep', 'task-1', 'task-2');
    expect(code).toBe(1);
    expect(stderr).toContain('does not offer `holdfast task dep` yet');
  });
});

describe('task', () => {
  it('adds and lists tasks, for people and for programs', async () => {
    const added = await cli.run('task', 'add', 'Write the parser', '--json');
    expect(JSON.parse(added.stdout).task).toMatchObject({ title: 'Write the parser', fencingToken: '0' });
    const { code, stdout } = await cli.run('task', 'list');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ID +STATUS +PRIORITY +HOLDER +TITLE\ntask-1 +OPEN +0 +Write the parser\n$/);
  });

  it('lists nothing as an empty list', async () => {
    const { stdout } = await cli.run('task', 'list', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ tasks: [] });
  });

  it('reads as many pages as the limit needs', async () => {
    for (let at = 0; at < 1_500; at++) fake.addTask({ title: `task ${at}` });
    const all = await cli.run('task', 'list', '--limit', '2000', '--json');
    expect(JSON.parse(all.stdout).tasks).toHaveLength(1_500);
    const some = await cli.run('task', 'list', '--limit', '1200');
    expect(some.stdout.trimEnd().split('\n')).toHaveLength(1_201);
    expect(some.stderr).toContain('There are more');
  });

  it('shows no escape sequence of a title', async () => {
    fake.addTask({ title: 'evil \u001b[31mred\u009b0m\r\nnext' });
    const { stdout } = await cli.run('task', 'list');
    expect(stdout).toContain('evil �[31mred�0m next\n');
  });

  it('finds a task by its external key', async () => {
    fake.addTask({ title: 'Build', externalKey: 'build' });
    const { stdout } = await cli.run('task', 'show', 'key:build', '--json');
    expect(JSON.parse(stdout).task.id).toBe('task-1');
  });

  it('exits 1 for a task that is not there, also as JSON', async () => {
    const { code, stdout, stderr } = await cli.run('task', 'show', 'nope', '--json');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(JSON.parse(stderr)).toEqual({ error: { code: 'NOT_FOUND', message: 'There is no task "nope".' } });
  });

  it('exits 3 for a refused write, with the rejection as JSON', async () => {
    fake.addTask({ title: 'a' });
    const { code, stderr } = await cli.run('task', 'done', 'task-1', '--json');
    expect(code).toBe(3);
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'FAILED_PRECONDITION',
      rejection: { code: 'WRITE_CODE_LOCK_REQUIRED', taskId: 'task-1' },
    });
  });
});

describe('claim', () => {
  it('prints the grant and how to go on, and later commands of the execution find the lease', async () => {
    fake.addTask({ title: 'Write the parser' });
    cli.env.HOLDFAST_EXECUTION_ID = 'run-1';
    const claimed = await cli.run('claim');
    expect(claimed).toMatchObject({ code: 0, stderr: '' });
    expect(claimed.stdout).toContain('holdfast task done task-1');
    expect(claimed.stdout).toContain('--lease lease-of-task-1 --fence 1');
    expect(await cli.run('task', 'note', 'task-1', 'half done')).toMatchObject({ code: 0 });
    expect(await cli.run('renew', 'task-1')).toMatchObject({ code: 0 });
    expect(await cli.run('task', 'done', 'task-1', '--result', 'merged')).toMatchObject({ code: 0 });
    expect(fake.notes).toEqual(['half done']);
    expect(fake.tasks[0]?.result).toBe('merged');
  });

  it('names the execution that it made up, and its proof works by itself', async () => {
    fake.addTask({ title: 'a' });
    const { stdout, stderr } = await cli.run('claim', 'task-1');
    const execution = /Execution (\S+)/.exec(stderr)?.[1];
    expect(stdout).toContain(`--execution ${execution}`);
    expect(
      await cli.run('task', 'done', 'task-1', '--lease', 'lease-of-task-1', '--fence', '1'),
    ).toMatchObject({
      code: 0,
    });
  });

  it('exits 3 when refused, with the holder and what to take instead', async () => {
    fake.addTask({ title: 'held' });
    fake.addTask({ title: 'free' });
    await cli.run('claim', 'task-1', '--execution', 'run-1');
    const { code, stdout, stderr } = await cli.run('claim', 'task-1', '--execution', 'run-2');
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toMatch(/HELD[\s\S]*builder \(execution run-1\)[\s\S]*Take one[\s\S]*task-2 .* free/);
    const json = await cli.run('claim', 'task-1', '--execution', 'run-2', '--json');
    expect(json).toMatchObject({ code: 3, stderr: '' });
    expect(JSON.parse(json.stdout).refusal).toMatchObject({ reason: 'REFUSAL_REASON_HELD' });
  });

  it('exits 3 when nothing is ready', async () => {
    const { code, stderr } = await cli.run('claim');
    expect(code).toBe(3);
    expect(stderr).toContain('NOTHING_READY');
  });

  it('releases a lease once, and says what is missing the second time', async () => {
    fake.addTask({ title: 'a' });
    cli.env.HOLDFAST_EXECUTION_ID = 'run-1';
    await cli.run('claim', 'task-1');
    expect(await cli.run('release', 'task-1')).toMatchObject({ code: 0, stdout: 'Released task-1.\n' });
    const again = await cli.run('release', 'task-1');
    expect(again.code).toBe(1);
    expect(again.stderr).toContain('execution run-1 holds no lease on task task-1');
  });
});
