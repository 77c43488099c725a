import { Enforcement, WriteCode } from '@holdfast/proto/guard';
import { EventKind } from '@holdfast/proto/history';
import { TaskStatus } from '@holdfast/proto/task';
import { describe, expect, it } from 'vitest';
import { Cli } from '../cli/holdfast-process.js';
import { httpAgent } from './agent.js';
import { setUpPlace } from './place.js';

// What was met in the field, through the tools. Over HTTP nothing renews by itself: leases run out when they are to.

const place = setUpPlace();
const ada = () => httpAgent({ url: place.service.url, token: place.adaToken });
const warnOnly = () =>
  place.owner.projects.updateProject({
    project: place.project,
    settings: { enforcement: Enforcement.WARN },
  });
const taskOf = async (taskId: string) =>
  (await place.owner.tasks.getTask({ project: place.project, taskId })).task;

it('what the command line claimed, the tools complete: one principal, one execution', async () => {
  const task = await place.newTask('shared');
  const cli = new Cli({ HOLDFAST_URL: place.service.url, HOLDFAST_TOKEN: place.adaToken });
  try {
    cli.env.HOLDFAST_EXECUTION_ID = 'run-1';
    expect(await cli.run('claim', task)).toMatchObject({ code: 0 });
    const agent = await place.ada({ env: { HOLDFAST_EXECUTION_ID: 'run-1' } });
    expect(await agent.call('check_lease', { task_id: task })).toMatchObject({ live: true });
    const done = await agent.call('complete_task', { task_id: task, result: 'merged' });
    expect(done).toMatchObject({ task: { status: 'DONE', result: 'merged' } });
    const shown = JSON.parse((await cli.run('task', 'show', task, '--json')).stdout);
    expect(JSON.stringify(shown)).toContain('merged');
  } finally {
    cli.remove();
  }
});

it('a renewal answers with a later deadline, and of a lost lease with STOP', async () => {
  const task = await place.newTask('renewed');
  const agent = await ada();
  const { execution_id, lease } = await agent.call('acquire_task', { task_id: task, ttl_seconds: 60 });
  const renewed = await agent.call('renew_lease', { task_id: task, execution_id, ttl_seconds: 120 });
  expect(Date.parse(renewed.lease.expires_at)).toBeGreaterThan(Date.parse(lease.expires_at));
  expect(renewed.lease_seconds_left).toBeGreaterThan(50);

  const short = await place.newTask('lost');
  const lost = await agent.call('acquire_task', { task_id: short, ttl_seconds: 1 });
  expect(await place.endOf(short)).toBe('EXPIRED');
  expect(
    await agent.fail('renew_lease', { task_id: short, execution_id: lost.execution_id, progress: '90 %' }),
  ).toMatch(/^STOP: .*LOCK_EXPIRED/);
});

describe('a result that comes after the lease ran out', () => {
  /** Has ada acquire a task and lose it to time. */
  const lateAda = async (task: string) => {
    const agent = await ada();
    const { execution_id } = await agent.call('acquire_task', { task_id: task, ttl_seconds: 1 });
    expect(await place.endOf(task)).toBe('EXPIRED');
    return (result: string) => ({ agent, args: { task_id: task, execution_id, result } });
  };
  const keptResults = async () => {
    const { events } = await place.owner.history.listHistory({
      project: place.project,
      kinds: [EventKind.WRITE_REJECTED],
    });
    return events.map(({ payload }) => payload.case === 'guardedWrite' && payload.value.keptResult);
  };

  it('is refused and kept when nobody took the task', async () => {
    const task = await place.newTask('late');
    const { agent, args } = (await lateAda(task))('late work');
    const told = await agent.fail('complete_task', args);
    expect(told).toMatch(/^STOP: .*LOCK_EXPIRED.* Nobody took the task.* acquire_task/);
    expect(await keptResults()).toEqual(['late work']);
    expect((await taskOf(task))?.status).toBe(TaskStatus.OPEN);
  });

  it('is refused and kept when somebody did', async () => {
    const task = await place.newTask('late');
    const { agent, args } = (await lateAda(task))('late work');
    const other = await place.ben();
    await other.call('acquire_task', { task_id: task });
    expect(await agent.fail('complete_task', args)).toMatch(/^STOP: .*STALE_LOCK.*ben/);
    expect(await keptResults()).toEqual(['late work']);
    expect((await taskOf(task))?.holder?.principal).toBe('ben');
  });

  it('is taken with a warning in WARN', async () => {
    await warnOnly();
    const task = await place.newTask('late');
    const { agent, args } = (await lateAda(task))('late work');
    expect(await agent.call('complete_task', args)).toMatchObject({
      task: { status: 'DONE', result: 'late work' },
      warning: expect.stringContaining('LOCK_EXPIRED'),
    });
  });
});

it('in WARN every write without a lease is done, audited, and in the report', async () => {
  await warnOnly();
  const agent = await ada();
  const other = await place.newTask('other');
  const writes: [tool: string, argsFor: (task_id: string) => object, rpc: string][] = [
    ['add_note', (task_id) => ({ task_id, text: 'note' }), 'AddNote'],
    ['update_task', (task_id) => ({ task_id, title: 'new' }), 'UpdateTask'],
    ['update_task', (task_id) => ({ task_id, add_blocked_by: [other] }), 'AddDependency'],
    ['update_task', (task_id) => ({ task_id, status: 'DROPPED' }), 'DropTask'],
    ['create_tasks', (parent_id) => ({ tasks: [{ title: 'child', parent_id }] }), 'CreateTask'],
    ['complete_task', (task_id) => ({ task_id }), 'CompleteTask'],
  ];
  for (const [tool, argsFor, rpc] of writes) {
    const args = argsFor(await place.newTask(rpc));
    const answer = await agent.call(tool, { ...args, execution_id: 'run-1' });
    if (tool !== 'create_tasks') expect(answer.warning).toMatch(/LOCK_REQUIRED/);
  }
  const { counts, readyToEnforce } = await place.owner.history.getEnforcementReport({
    project: place.project,
  });
  expect(readyToEnforce).toBe(false);
  expect(counts.map(({ rpc }) => rpc).toSorted()).toEqual(writes.map(([, , rpc]) => rpc).toSorted());
  for (const { principal, code } of counts) {
    expect([principal, WriteCode[code]]).toEqual(['ada', 'LOCK_REQUIRED']);
  }
});
