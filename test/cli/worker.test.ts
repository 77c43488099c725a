import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createHoldfast, type Holdfast, Setbacks } from '@holdfast/client';
import { EventKind } from '@holdfast/proto/history';
import { TaskStatus } from '@holdfast/proto/task';
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
  project = `worker-${++projects}`;
  await owner.projects.createProject({ project });
  const { token } = await owner.projects.createToken({ project, principal: 'builder', kind: 1, role: 1 });
  cli = new Cli({ HOLDFAST_URL: server.url, HOLDFAST_TOKEN: token });
});
afterEach(() => cli.remove());

/** What a worker does: a script for Node. */
const node = (script: string) => ['--', process.execPath, '-e', script];

const newTask = async (
  title: string,
  more: { blockedBy?: string[]; priority?: number; body?: string } = {},
) => (await owner.tasks.createTask({ project, title, ...more })).task?.id ?? '';

const taskOf = async (taskId: string) => {
  const { task, notes } = await owner.tasks.getTask({ project, taskId });
  return { status: TaskStatus[task?.status ?? 0], result: task?.result, attempt: task?.attempt, notes };
};

const events = async (kind: EventKind) =>
  (await owner.history.listHistory({ project, kinds: [kind], pageSize: 1000 })).events;

const file = (name: string) => join(cli.folder, name);
const linesOf = (name: string) => readFileSync(file(name), 'utf8').split('\n').filter(Boolean);
const appears = (name: string) => expect.poll(() => existsSync(file(name)), { timeout: 20_000 }).toBe(true);

describe('worker', () => {
  it('does tasks in the order of the queue, completes each with its output, and exits when all is done', async () => {
    const second = await newTask('second');
    const first = await newTask('first', { priority: 5 });
    const third = await newTask('third', { blockedBy: [second] });
    const { code, stdout, stderr } = await cli.run(
      'worker',
      '--until-empty',
      ...node('console.log(process.env.HOLDFAST_TASK_TITLE)'),
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'first\nsecond\nthird\n' });
    expect(stderr).toContain('Completed 3 tasks.');
    expect(await taskOf(first)).toMatchObject({ status: 'DONE', result: 'first' });
    expect(await taskOf(third)).toMatchObject({ status: 'DONE', result: 'third' });
    expect(await events(EventKind.EXECUTION_ENDED)).toHaveLength(1);
  });

  it('gives the command the task and what earlier holders left, on stdin and in its environment', async () => {
    const before = await newTask('before', { body: 'the text' });
    await owner.tasks.completeTask({ project, taskId: before, result: 'the plan' });
    const id = await newTask('after', { blockedBy: [before], body: 'the body' });
    await owner.tasks.addNote({ project, taskId: id, text: 'careful' });
    const script = `
      let json = '';
      process.stdin.on('data', (chunk) => (json += chunk)).on('end', () => {
        const { task, lease, continuation } = JSON.parse(json);
        const left = JSON.parse(process.env.HOLDFAST_CONTINUATION);
        console.log(JSON.stringify([task.body, lease.attempt, continuation.notes[0].text,
          left.dependencyResults[0].result, process.env.HOLDFAST_ATTEMPT]));
      });`;
    const { stdout } = await cli.run('worker', '--once', ...node(script));
    expect(JSON.parse(stdout)).toEqual(['the body', 1, 'careful', 'the plan', '1']);
  });

  it('does not mind a command that reads nothing of a long task', async () => {
    const id = await newTask('long', { body: 'x'.repeat(64 * 1_024) });
    expect(await cli.run('worker', '--once', ...node(''))).toMatchObject({ code: 0 });
    expect((await taskOf(id)).status).toBe('DONE');
  });

  it('releases a task that the command fails on with the reason, does the others, and gives it up in the end', async () => {
    const bad = await newTask('bad', { priority: 9 });
    const good = await newTask('good');
    const script = `
      if (process.env.HOLDFAST_TASK_TITLE === 'good') process.exit(0);
      console.log('on stdout');
      console.error('no luck');
      process.exit(7);`;
    const { code, stderr } = await cli.run('worker', '--until-empty', '--max-failures', '2', ...node(script));
    expect(code).toBe(1);
    expect(stderr).toContain(`Gave up on ${bad}.`);
    const { status, attempt, notes } = await taskOf(bad);
    expect({ status, attempt }).toEqual({ status: 'OPEN', attempt: 2 });
    expect(notes[0]?.text).toMatch(/ended with exit code 7:\nno luck$/);
    expect((await taskOf(good)).status).toBe('DONE');
    // The good one was not kept waiting.
    const done = (await events(EventKind.TASK_COMPLETED))[0]?.position ?? 0n;
    const taken = (await events(EventKind.LEASE_ACQUIRED))
      .filter(({ taskId }) => taskId === bad)
      .at(-1)?.position;
    expect(taken).toBeGreaterThan(done);
  });

  it('takes only what matches', async () => {
    const { plan } = await owner.tasks.createPlan({ project, title: 'P' });
    const { task } = await owner.tasks.createTask({
      project,
      title: 'in',
      planId: plan?.id ?? '',
      labels: ['l'],
    });
    const out = await newTask('out');
    await cli.run('worker', '--until-empty', '--plan', plan?.id ?? '', '--label', 'l', ...node(''));
    expect((await taskOf(task?.id ?? '')).status).toBe('DONE');
    expect((await taskOf(out)).status).toBe('OPEN');
  });

  it('waits, until empty, for what others are working on, and not for what nobody can do', async () => {
    const held = await newTask('held');
    const behind = await newTask('behind', { blockedBy: [await newTask('middle', { blockedBy: [held] })] });
    const dropped = await newTask('dropped');
    await owner.tasks.dropTask({ project, taskId: dropped });
    const stuck = await newTask('stuck', { blockedBy: [dropped] });
    const { outcome: got } = await owner.leases.acquireLease({
      project,
      taskId: held,
      executionId: 'owner-run',
    });
    const lease = got.case === 'grant' ? got.value.lease : undefined;
    const { outcome } = cli.start('worker', '--until-empty', ...node(''));
    let over = false;
    void outcome.then(() => {
      over = true;
    });
    // Longer than it takes to look twice.
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    expect(over).toBe(false);
    await owner.tasks.completeTask({
      project,
      taskId: held,
      executionId: 'owner-run',
      proof: { leaseId: lease?.id ?? '', fencingToken: lease?.fencingToken ?? 0n },
    });
    expect(await outcome).toMatchObject({ code: 0 });
    expect((await taskOf(behind)).status).toBe('DONE');
    expect((await taskOf(stuck)).status).toBe('OPEN');
  });

  it('with --once exits 3 when nothing is ready, and 1 when the command fails', async () => {
    expect(await cli.run('worker', '--once', ...node(''))).toMatchObject({ code: 3 });
    await newTask('a');
    expect(await cli.run('worker', '--once', ...node('process.exit(1)'))).toMatchObject({ code: 1 });
  });

  it('waits for work', async () => {
    const { child, outcome } = cli.start('worker', ...node('require("node:fs").writeFileSync("ran", "")'));
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const id = await newTask('late');
    await appears('ran');
    await expect.poll(async () => (await taskOf(id)).status, { timeout: 10_000 }).toBe('DONE');
    child.kill('SIGTERM');
    expect(await outcome).toMatchObject({ code: 0, stderr: expect.stringContaining('Completed 1 task.') });
  });

  it('lets the command finish when it is stopped, and takes nothing more', async () => {
    const first = await newTask('first');
    const second = await newTask('second');
    const script = `
      const { writeFileSync, existsSync } = require('node:fs');
      writeFileSync('started', '');
      setInterval(() => existsSync('go') && process.exit(0), 50);`;
    const { child, outcome } = cli.start('worker', ...node(script));
    await appears('started');
    child.kill('SIGTERM');
    writeFileSync(file('go'), '');
    expect(await outcome).toMatchObject({ code: 0 });
    expect((await taskOf(first)).status).toBe('DONE');
    expect((await taskOf(second)).status).toBe('OPEN');
  });

  it('stops the command when its time is over, and releases the task', async () => {
    const id = await newTask('long');
    const script = 'require("node:fs").writeFileSync("started", ""); setInterval(() => {}, 1000)';
    const { child, outcome } = cli.start('worker', '--grace', '500ms', ...node(script));
    await appears('started');
    child.kill('SIGINT');
    expect(await outcome).toMatchObject({ code: 0 });
    const { status, notes } = await taskOf(id);
    expect(status).toBe('OPEN');
    expect(notes[0]?.text).toContain('The worker was stopped');
  });

  it('leaves it to the command to complete the task by itself', async () => {
    const id = await newTask('by itself');
    const binary = new URL('../../bin/holdfast.js', import.meta.url).pathname;
    const inner = `${process.execPath} ${binary} task done $HOLDFAST_TASK_ID --result mine && sleep 3`;
    const { code, stderr } = await cli.run('worker', '--once', '--ttl', '2s', '--', 'sh', '-c', inner);
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('Completed 1 task.') });
    expect(await taskOf(id)).toMatchObject({ status: 'DONE', result: 'mine' });
  });

  it('stops the command when the lease is taken away, and goes on', async () => {
    const id = await newTask('taken');
    const script = 'require("node:fs").writeFileSync("started", ""); setInterval(() => {}, 1000)';
    const { child, outcome } = cli.start('worker', '--ttl', '2s', ...node(script));
    await appears('started');
    await owner.leases.forceReleaseLease({ project, taskId: id, reason: 'a test' });
    await owner.tasks.dropTask({ project, taskId: id });
    await newTask('next');
    await expect
      .poll(async () => (await events(EventKind.LEASE_ACQUIRED)).length, { timeout: 15_000 })
      .toBe(2);
    child.kill('SIGTERM');
    child.kill('SIGTERM');
    expect(await outcome).toMatchObject({ stderr: expect.stringContaining('is lost') });
  });

  it('says which command could not be started', async () => {
    const id = await newTask('a');
    const { code, stderr } = await cli.run('worker', '--', '/no/such/command');
    expect(code).toBe(1);
    expect(stderr).toContain("can't start /no/such/command");
    expect((await taskOf(id)).status).toBe('OPEN');
  });

  it('wants a command', async () => {
    expect(await cli.run('worker')).toMatchObject({ code: 2, stderr: expect.stringContaining('after --') });
  });
});

describe('three workers', () => {
  it('drain an imported plan, one of them killed half-way: nothing is done twice, nothing forgotten', async () => {
    const steps = Array.from({ length: 12 }, (_, n) => `- [ ] Step ${n + 1}\n  - [ ] Part of ${n + 1}\n`);
    writeFileSync(file('PLAN.md'), `# Plan\n${steps.join('')}`);
    expect(await cli.run('import', 'PLAN.md')).toMatchObject({ code: 0 });
    // Step 5 hangs at its first attempt, until its worker is killed.
    const script = `
      const fs = require('node:fs');
      const { HOLDFAST_TASK_ID: id, HOLDFAST_TASK_TITLE: title, HOLDFAST_ATTEMPT: attempt } = process.env;
      if (title === 'Step 5' && attempt === '1') {
        fs.writeFileSync('hangs.part', process.ppid + ' ' + process.pid);
        fs.renameSync('hangs.part', 'hangs');
        setInterval(() => {}, 1000);
      } else {
        fs.appendFileSync('done', id + '\\n');
      }`;
    const workers = Array.from({ length: 3 }, () =>
      cli.start('worker', '--plan', 'key:PLAN.md#Plan', '--until-empty', '--ttl', '6s', ...node(script)),
    );
    await appears('hangs');
    const [workerPid = 0, commandPid = 0] = readFileSync(file('hangs'), 'utf8').split(' ').map(Number);
    expect(workers.map(({ child }) => child.pid)).toContain(workerPid);
    // As when the machine goes down: worker and command at once.
    process.kill(workerPid, 'SIGKILL');
    process.kill(commandPid, 'SIGKILL');

    const outcomes = await Promise.all(workers.map(({ outcome }) => outcome));
    expect(outcomes.map(({ code }) => code).sort()).toEqual([0, 0, null]);

    const { plan, steps: tasks } = await owner.tasks.getPlan({ project, externalKey: 'PLAN.md#Plan' });
    expect(plan).toMatchObject({ stepsDone: 24, stepsTotal: 24 });
    const ids = tasks.map(({ id }) => id).sort();
    // First, with what the workers said: a lease given up on a machine that stood still has a command run again.
    const said = outcomes.map(({ stderr }) => stderr).join('\n');
    expect(await events(EventKind.LEASE_EXPIRED), said).toHaveLength(1);
    expect(await events(EventKind.LEASE_TAKEN_OVER), said).toHaveLength(1);
    expect(await events(EventKind.LEASE_ACQUIRED), said).toHaveLength(24);
    expect(linesOf('done').sort()).toEqual(ids);
    expect((await events(EventKind.TASK_COMPLETED)).map(({ taskId }) => taskId).sort()).toEqual(ids);
  });
});

describe('setbacks', () => {
  it('leave a task alone for longer each time, and at last for good', () => {
    let now = 0;
    const setbacks = new Setbacks(3, () => now);
    expect(setbacks.failed('a')).toBe(1_000);
    expect([...setbacks.resting]).toEqual(['a']);
    now = 1_000;
    expect([...setbacks.resting]).toEqual([]);
    expect(setbacks.failed('a')).toBe(2_000);
    setbacks.succeeded('a');
    expect([setbacks.failed('a'), setbacks.failed('a'), setbacks.failed('a')]).toEqual([
      1_000,
      2_000,
      Infinity,
    ]);
    now = 1e12;
    expect([[...setbacks.resting], [...setbacks.givenUp]]).toEqual([['a'], ['a']]);
  });
});
