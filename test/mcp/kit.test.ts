import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { LeaseState } from '@holdfast/proto/guard';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Cli } from '../cli/holdfast-process.js';
import { setUpPlace } from './place.js';

const binary = fileURLToPath(new URL('../../bin/holdfast.js', import.meta.url));
const place = setUpPlace();
let cli: Cli;

beforeEach(() => {
  cli = new Cli({ HOLDFAST_URL: place.service.url, HOLDFAST_TOKEN: place.adaToken });
  cli.env.XDG_CACHE_HOME = cli.folder;
  cli.env.HOME = cli.folder;
});
afterEach(() => cli.remove());

describe('guard', () => {
  it('passes a live lease, and exits with 3 for every other', async () => {
    const task = await place.newTask('deploy');
    const agent = place.service.client(place.adaToken, 'run-1');
    const guard = (...args: string[]) => cli.run('guard', task, ...args);
    expect(await guard()).toMatchObject({ code: 3, stderr: expect.stringMatching(/Stop: .*LOCK_REQUIRED/) });
    const { outcome } = await agent.leases.acquireLease({ taskId: task, executionId: 'run-1' });
    const lease = outcome.case === 'grant' ? outcome.value.lease : undefined;
    const proof = ['--lease', lease?.id ?? '', '--fence', '1', '--execution', 'run-1'];
    expect(await guard(...proof)).toMatchObject({ code: 0, stdout: 'The lease is live.\n' });
    expect(await guard('--execution', 'run-1')).toMatchObject({ code: 0 });
    expect(await guard('--execution', 'run-2')).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/LOCKED_BY_OTHER/),
    });
    cli.env.HOLDFAST_TASK_ID = task;
    cli.env.HOLDFAST_LEASE_ID = lease?.id;
    cli.env.HOLDFAST_FENCING_TOKEN = '1';
    cli.env.HOLDFAST_EXECUTION_ID = 'run-1';
    expect(await cli.run('guard')).toMatchObject({ code: 0 });
    await place.owner.leases.forceReleaseLease({ project: place.project, taskId: task, reason: 'test' });
    expect(await cli.run('guard')).toMatchObject({ code: 3, stderr: expect.stringMatching(/STALE_LOCK/) });
  });

  it('does not pass when nobody can tell', async () => {
    expect(await cli.run('guard', 'x', '--url', 'http://127.0.0.1:1')).toMatchObject({ code: 1 });
    expect(await cli.run('guard')).toMatchObject({ code: 2 });
  });
});

describe("Claude Code's hooks", () => {
  const hook = async (event: object) => {
    const child = spawn(process.execPath, [binary, 'mcp', 'hook'], { cwd: cli.folder, env: cli.env });
    const ended = once(child, 'close');
    child.stdin.end(JSON.stringify({ session_id: 's1', ...event }));
    const stderr = await text(child.stderr);
    const [code] = await ended;
    return { code, stderr };
  };
  const post = (tool_name: string, tool_response: unknown) =>
    hook({ hook_event_name: 'PostToolUse', tool_name, tool_response });

  it('renew after a tool, tell what was lost once, and end the execution with the session', async () => {
    const [task, other] = [await place.newTask('one'), await place.newTask('two')];
    const agent = place.service.client(place.adaToken, 'run-1');
    for (const taskId of [task, other]) await agent.leases.acquireLease({ taskId, executionId: 'run-1' });
    const deadline = async () =>
      (await place.owner.tasks.getTask({ project: place.project, taskId: task })).task?.leaseExpiresAt;
    expect(await post('Edit', { ok: true })).toEqual({ code: 0, stderr: '' });
    const before = await deadline();
    expect(await hook({ hook_event_name: 'Stop' })).toEqual({ code: 0, stderr: '' });
    expect(await deadline()).toEqual(before);

    await place.owner.leases.forceReleaseLease({ project: place.project, taskId: other, reason: 'test' });
    const answer = [{ type: 'text', text: JSON.stringify({ acquired: true, execution_id: 'run-1' }) }];
    const told = await post('mcp__holdfast__acquire_next_task', answer);
    expect(told.code).toBe(2);
    expect(told.stderr).toMatch(new RegExp(`^STOP: your Holdfast lease on task ${other} is lost`));
    expect(await deadline()).not.toEqual(before);

    const renewed = await deadline();
    expect(await post('Edit', {})).toEqual({ code: 0, stderr: '' });
    expect(await deadline()).toEqual(renewed);
    expect(await hook({ hook_event_name: 'SessionEnd' })).toEqual({ code: 0, stderr: '' });
    expect(await place.endOf(task)).toBe('RELEASED');
  });

  it('go by the answer itself, not by what a task says', async () => {
    const taskId = await place.newTask('x');
    const agent = place.service.client(place.adaToken, 'run-3');
    await agent.leases.acquireLease({ taskId, executionId: 'run-3' });
    const task = { title: 'x "execution_id":"run-3"', body: '{"execution_id":"run-3"}' };
    const answer = [{ type: 'text', text: JSON.stringify({ acquired: true, execution_id: 'run-2', task }) }];
    const inSession = {
      session_id: 's2',
      tool_name: 'mcp__holdfast__acquire_next_task',
      tool_response: answer,
    };
    expect((await hook({ ...inSession, hook_event_name: 'PostToolUse' })).code).toBe(0);
    expect((await hook({ ...inSession, hook_event_name: 'SessionEnd' })).code).toBe(0);
    const { lease } = await place.owner.leases.getLease({ project: place.project, taskId });
    expect(lease?.state).toBe(LeaseState.ACTIVE);
  });

  it('say nothing to the agent of what is wrong with themselves', async () => {
    cli.env.HOLDFAST_TOKEN = '';
    const { code, stderr } = await post('Edit', {});
    expect(code).toBe(1);
    expect(stderr).toMatch(/No token/);
  });
});
