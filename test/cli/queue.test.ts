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
  owner = createHoldfast({ url: server.url, token: server.ownerToken });
});
afterAll(async () => {
  owner?.close();
  await server?.stop();
});
beforeEach(async () => {
  project = `queue-${++projects}`;
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

const titles = (tasks: { title: string }[]) => tasks.map(({ title }) => title);

describe('plan', () => {
  it('is made, filled, shown in order with its progress, reordered and listed', async () => {
    const { plan } = await json('plan', 'add', 'Release', '--key', 'r');
    for (const title of ['one', 'two', 'three'])
      await json('task', 'add', title, '--plan', plan.id, '--key', title);
    await json('task', 'done', 'key:two');
    const { code, stdout } = await cli.run('plan', 'show', 'key:r');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Release {2}1\/3\n/);
    expect(stdout).toMatch(/OPEN .* one\n.*DONE .* two\n.*OPEN .* three\n/);

    const steps = ['three', 'two', 'one'].flatMap((key) => ['--step', `key:${key}`]);
    const updated = await cli.run('plan', 'update', 'key:r', '--title', 'Release 2', ...steps);
    expect(updated).toMatchObject({ code: 0, stdout: `${plan.id}  1/3  Release 2\n` });
    expect(titles((await json('plan', 'show', plan.id)).steps)).toEqual(['three', 'two', 'one']);
    expect(titles((await json('ready', '--plan', 'key:r')).tasks)).toEqual(['three', 'one']);
    expect((await cli.run('plan', 'list')).stdout).toMatch(/1\/3 +Release 2\n$/);
  });

  it('is not changed without a word of what', async () => {
    expect(await cli.run('plan', 'update', 'x')).toMatchObject({ code: 2 });
  });
});

describe('ready', () => {
  it('lists what can be claimed, best first, and explains the rest', async () => {
    await json('task', 'add', 'later', '--key', 'later');
    await json('task', 'add', 'sooner', '--priority', '5', '--key', 'sooner');
    await json('task', 'add', 'child', '--parent', 'key:later', '--key', 'child');
    await json('task', 'add', 'blocked', '--blocked-by', 'key:sooner');
    expect(titles((await json('ready')).tasks)).toEqual(['sooner', 'child']);
    await json('claim', 'key:child', '--execution', 'run');
    const { stdout } = await cli.run('ready', '--explain');
    expect(stdout).toMatch(/sooner\n\n/);
    expect(stdout).toMatch(/It waits for unfinished tasks\. +later\n/);
    expect(stdout).toMatch(/It waits for unfinished tasks\. +blocked\n/);
    expect(stdout).toMatch(/owner \(run\) holds it .* child\n/);
  });
});

describe('claim without a task', () => {
  it('takes the best ready one that matches, and says why there is none', async () => {
    await json('task', 'add', 'plain');
    await json('task', 'add', 'docs', '--label', 'docs');
    const { grant } = await json('claim', '--label', 'docs', '--execution', 'run');
    expect(grant.task.title).toBe('docs');
    const { code, stderr } = await cli.run('claim', '--label', 'docs', '--execution', 'other');
    expect(code).toBe(3);
    expect(stderr).toMatch(
      /Nothing is ready: 1 leased \(next expiry in .*\), 1 ready that your filter leaves out/,
    );
  });

  it('waits for one', async () => {
    const { outcome } = cli.start('claim', '--wait', '20s', '--json', '--execution', 'run');
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await json('task', 'add', 'fresh');
    const { code, stdout } = await outcome;
    expect(code).toBe(0);
    expect(JSON.parse(stdout).grant.task.title).toBe('fresh');
  });
});

describe('task dep', () => {
  it('makes a task wait, refuses a circle with its path, and lets it go again', async () => {
    const a = (await json('task', 'add', 'a', '--key', 'a')).task.id;
    const b = (await json('task', 'add', 'b', '--key', 'b')).task.id;
    expect((await cli.run('task', 'dep', 'key:a', 'key:b')).stdout).toMatch(/^BLOCKED/);
    const { code, stderr } = await cli.run('task', 'dep', 'key:b', 'key:a');
    expect(code).toBe(1);
    expect(stderr).toContain(`${b} waits for ${a}`);
    expect((await cli.run('task', 'dep', 'key:a', 'key:b', '--remove')).stdout).toMatch(/^OPEN/);
  });
});
