import { spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { createHoldfast, type Holdfast } from '@holdfast/client';
import { EventKind } from '@holdfast/proto/history';
import { type Task, TaskStatus } from '@holdfast/proto/task';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startScriptedServer } from '../client/scripted-server.js';
import { FakeHoldfast } from './fake-holdfast.js';
import { Cli } from './holdfast-process.js';
import { type RealServer, startRealServer } from './real-server.js';

let server: RealServer;
let owner: Holdfast;
let cli: Cli;
let task: Task;

beforeAll(async () => {
  server = await startRealServer();
  owner = createHoldfast({ url: server.url, token: server.ownerToken });
  const { token } = await owner.projects.createToken({ principal: 'builder', kind: 1, role: 1 });
  cli = new Cli({ HOLDFAST_URL: server.url, HOLDFAST_TOKEN: token });
});
afterAll(async () => {
  owner?.close();
  cli?.remove();
  await server?.stop();
});

beforeEach(async () => {
  const created = await owner.tasks.createTask({ title: 'Build it' });
  task = created.task as Task;
});

async function now(): Promise<Task> {
  const answer = await owner.tasks.getTask({ taskId: task.id });
  return answer.task as Task;
}

async function kinds(): Promise<string[]> {
  const { events } = await owner.history.listHistory({ taskId: task.id });
  return events.map(({ kind }) => EventKind[kind]);
}

/** A script for `node -e`: what the shells of this world can't be relied on to do alike. */
function node(script: string): string[] {
  return ['--', process.execPath, '-e', script];
}

/** Starts `run` and waits for the line that the command prints when it is there. */
async function startAndAwait(ready: string, ...args: string[]) {
  const { child, outcome } = cli.start('run', ...args);
  if (!child.stdout) throw new Error('stdout is a pipe');
  const lines = createInterface(child.stdout);
  for await (const line of lines) if (line.startsWith(ready)) return { child, outcome, line };
  throw new Error(`never said ${ready}: ${(await outcome).stderr}`);
}

describe('run', () => {
  it('gives the command the task, the proof and the connection, and exits with its code', async () => {
    const script = `
      const { HOLDFAST_TASK_ID: id, HOLDFAST_TASK_TITLE: title, HOLDFAST_FENCING_TOKEN: fence } = process.env;
      console.log([id, title, fence, !!process.env.HOLDFAST_LEASE_ID, !!process.env.HOLDFAST_EXECUTION_ID].join());
      process.exit(7);`;
    const { code, stdout, stderr } = await cli.run('run', task.id, ...node(script));
    expect({ code, stdout, stderr }).toEqual({
      code: 7,
      stdout: `${task.id},Build it,1,true,true\n`,
      stderr: '',
    });
  });

  it('releases with a note of the failure for the next holder', async () => {
    await cli.run('run', task.id, ...node('process.exit(7)'));
    expect(await now()).toMatchObject({ status: TaskStatus.OPEN });
    const { notes } = await owner.tasks.getTask({ taskId: task.id });
    expect(notes[0]?.text).toContain('ended with exit code 7');
  });

  it('lets the command call holdfast about the task, with no further word about the lease', async () => {
    const binary = new URL('../../bin/holdfast.js', import.meta.url).pathname;
    const inner = `${process.execPath} ${binary} task note $HOLDFAST_TASK_ID "from inside"`;
    expect(await cli.run('run', task.id, '--', 'sh', '-c', inner)).toMatchObject({ code: 0 });
    const { notes } = await owner.tasks.getTask({ taskId: task.id });
    expect(notes[0]?.text).toBe('from inside');
  });

  it('keeps the lease renewed for longer than its TTL', async () => {
    const { code } = await cli.run('run', task.id, '--ttl', '2s', ...node('setTimeout(() => {}, 4500)'));
    expect(code).toBe(0);
    expect(await kinds()).toEqual([
      'TASK_CREATED',
      'TASK_READY',
      'LEASE_ACQUIRED',
      'LEASE_RELEASED',
      'TASK_READY',
    ]);
  });

  it('completes the task with the end of both outputs', async () => {
    const script = `
      for (let at = 0; at < 5000; at++) console.log('line ' + at);
      process.stdout.write('', () => console.error('\\x1b[31mwarned\\x1b[0m'));`;
    const { code, stdout, stderr } = await cli.run('run', task.id, '--complete', ...node(script));
    expect(code).toBe(0);
    expect(stdout.split('\n')).toHaveLength(5_001);
    expect(stderr).toContain('\u001b[31mwarned\u001b[0m\n');
    const { status, result } = await now();
    expect(status).toBe(TaskStatus.DONE);
    expect(result).toMatch(/^line \d+\n[\s\S]*warned/);
    expect(result).not.toContain('\u001b');
    expect(Buffer.byteLength(result)).toBeLessThanOrEqual(8 * 1_024);
  });

  it('does not complete the task when the command fails', async () => {
    expect(await cli.run('run', task.id, '--complete', ...node('process.exit(1)'))).toMatchObject({
      code: 1,
    });
    expect((await now()).status).toBe(TaskStatus.OPEN);
  });

  it('exits 3 and runs nothing when refused', async () => {
    await cli.run('claim', task.id, '--execution', 'other');
    const { code, stdout, stderr } = await cli.run('run', task.id, ...node('console.log("ran")'));
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toContain('held by builder, execution other');
  });

  it('waits for a held task, and takes it when it is free', async () => {
    const { lease } = await holdAsOwner();
    // It asks again when the server advises, at the latest when its time is up.
    const { outcome } = cli.start('run', task.id, '--wait', '5s', ...node('console.log("ran")'));
    await expect.poll(kinds, { timeout: 20_000 }).toContain('ACQUIRE_REFUSED');
    await owner.leases.releaseLease({ leaseId: lease.id, fencingToken: lease.fencingToken });
    expect(await outcome).toMatchObject({ code: 0, stdout: 'ran\n' });
  });

  it('stops waiting when interrupted', async () => {
    await holdAsOwner();
    const { child, outcome } = cli.start('run', task.id, '--wait', '5m', ...node('console.log("ran")'));
    await expect.poll(kinds, { timeout: 10_000 }).toContain('ACQUIRE_REFUSED');
    child.kill('SIGINT');
    expect(await outcome).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('SIGINT') });
  });

  it('says which command could not be started, and releases', async () => {
    const { code, stderr } = await cli.run('run', task.id, '--', '/no/such/command');
    expect(code).toBe(1);
    expect(stderr).toContain("can't start /no/such/command");
    expect((await now()).status).toBe(TaskStatus.OPEN);
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'passes %s on, exits as the command does, and releases',
    async (signal) => {
      const script = `process.on('${signal}', () => process.exit(9)); console.log('ready'); setInterval(() => {}, 1000)`;
      const { child, outcome } = await startAndAwait('ready', task.id, ...node(script));
      child.kill(signal);
      expect(await outcome).toMatchObject({ code: 9 });
      expect((await now()).status).toBe(TaskStatus.OPEN);
    },
  );

  it('exits with 128 + the number of the signal that ended the command', async () => {
    expect(await cli.run('run', task.id, ...node('process.kill(process.pid, "SIGKILL")'))).toMatchObject({
      code: 137,
    });
  });

  it('stops the command and its children when the lease is taken away, and says so', async () => {
    // The head ends at once; its child ignores SIGTERM and must be killed.
    const deaf = `process.on('SIGTERM', () => {}); console.log('deaf ' + process.pid); setInterval(() => {}, 1000)`;
    const script = `
      require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(deaf)}], { stdio: 'inherit' });
      process.on('SIGTERM', () => process.exit(0));`;
    const { outcome, line } = await startAndAwait('deaf', task.id, '--ttl', '3s', ...node(script));
    await owner.leases.forceReleaseLease({ taskId: task.id, reason: 'a test' });
    const { code, stderr } = await outcome;
    expect(code).toBe(1);
    expect(stderr).toContain('lease on task');
    expect(stderr).toContain('is lost');
    await expect.poll(() => isRunning(line.split(' ')[1] ?? '')).toBe(false);
  });

  it('stops the command before the deadline when no renewal can be confirmed', async () => {
    const fake = new FakeHoldfast();
    fake.ttlMs = 3_000;
    fake.addTask({ title: 'Build it' });
    const away = await startScriptedServer(fake.routes);
    const args = ['task-1', '--url', away.url, ...node('console.log("ready"); setInterval(() => {}, 1000)')];
    const claimedAfter = Date.now();
    const { outcome } = await startAndAwait('ready', ...args);
    await away.close();
    const { code, stderr } = await outcome;
    expect(code).toBe(1);
    expect(stderr).toContain('was not confirmed in time');
    expect(Date.now() - claimedAfter).toBeGreaterThan(1_000);
  });
});

async function holdAsOwner() {
  const { outcome } = await owner.leases.acquireLease({ taskId: task.id, executionId: 'owner-run' });
  if (outcome.case !== 'grant' || !outcome.value.lease) throw new Error('the task was free');
  return { lease: outcome.value.lease };
}

/** Whether a process runs: one that nobody reaped yet does not. */
function isRunning(pid: string): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', pid], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.trim().startsWith('Z');
}
