import { LeaseState } from '@holdfast/proto/guard';
import { TaskStatus } from '@holdfast/proto/task';
import { describe, expect, it } from 'vitest';
import { setUpPlace } from './place.js';

const place = setUpPlace();

const statusOf = async (taskId: string) =>
  (await place.owner.tasks.getTask({ project: place.project, taskId })).task?.status;

it('of two at once exactly one gets a task, and the other pivots', async () => {
  const tasks = [await place.newTask('wanted by both', { priority: 1 }), await place.newTask('the other')];
  const agents = await Promise.all([place.ada(), place.ben()]);
  const both = await Promise.all(agents.map((agent) => agent.call('acquire_task', { task_id: tasks[0] })));
  expect(both.map(({ acquired }) => acquired).toSorted()).toEqual([false, true]);
  const loser = both[0].acquired ? 1 : 0;
  expect(both[loser]).toMatchObject({ reason: 'HELD', alternatives: [{ id: tasks[1] }] });
  const pivoted = await agents[loser]?.call('acquire_task', { task_id: both[loser].alternatives[0].id });
  expect(pivoted).toMatchObject({ acquired: true, task: { id: tasks[1] } });
  for (const taskId of tasks) {
    const kinds = await place.kinds(taskId ?? '');
    expect(kinds.filter((kind) => kind === 'LEASE_ACQUIRED')).toHaveLength(1);
  }
});

describe('the process', () => {
  it('frees what it held at once when stdin ends', async () => {
    const task = await place.newTask('short');
    const agent = await place.ada();
    await agent.call('acquire_task', { task_id: task });
    await agent.close();
    expect(await place.endOf(task)).toBe('RELEASED');
    expect(await place.kinds(task)).toContain('LEASE_RELEASED');
  });

  it('frees it at the deadline when it is killed', async () => {
    const task = await place.newTask('short');
    const agent = await place.ada();
    const { lease } = await agent.call('acquire_task', { task_id: task, ttl_seconds: 2 });
    process.kill(agent.pid ?? 0, 'SIGKILL');
    expect(await place.endOf(task)).toBe('EXPIRED');
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(lease.expires_at));
  });

  it('renews by itself between calls', async () => {
    const task = await place.newTask('long');
    const agent = await place.ada();
    const { lease } = await agent.call('acquire_task', { task_id: task, ttl_seconds: 10 });
    const { expiresAt } = await laterDeadline(task, lease.expires_at, 2_000);
    expect(expiresAt).toBeGreaterThan(Date.parse(lease.expires_at) + 2_000);
  });

  it('does not when the agent has been idle for too long', async () => {
    const task = await place.newTask('hung');
    const agent = await place.ada({ args: ['--idle', '10ms'] });
    await agent.call('acquire_task', { task_id: task, ttl_seconds: 1 });
    expect(await place.endOf(task)).toBe('EXPIRED');
    const { lease_lost } = await agent.call('list_ready_tasks');
    expect(lease_lost).toEqual([expect.stringMatching(/^STOP: .* ran out/)]);
  });

  it('tells STOP when it was paused and wakes late', async () => {
    const task = await place.newTask('paused');
    const agent = await place.ada();
    await agent.call('acquire_task', { task_id: task, ttl_seconds: 1 });
    process.kill(agent.pid ?? 0, 'SIGSTOP');
    expect(await place.endOf(task)).toBe('EXPIRED');
    const other = await place.ben();
    const taken = await other.call('acquire_task', { task_id: task });
    expect(taken).toMatchObject({
      lease: { fencing_token: '2' },
      continuation: { attempt: 2, previous_holder: expect.stringContaining('ada'), previous_end: 'EXPIRED' },
    });
    process.kill(agent.pid ?? 0, 'SIGCONT');
    expect(await agent.fail('complete_task', { task_id: task })).toMatch(/^STOP: .*STALE_LOCK.*ben/);
    expect(await statusOf(task)).toBe(TaskStatus.IN_PROGRESS);
  });

  it('gives a lease back that the client gave up waiting for', async () => {
    const agent = await place.ada();
    const waiting = new AbortController();
    const call = agent.client.callTool(
      { name: 'acquire_next_task', arguments: { wait_seconds: 50 } },
      { signal: waiting.signal },
    );
    await agent.call('list_ready_tasks');
    waiting.abort();
    await expect(call).rejects.toThrow();
    const task = await place.newTask('too late');
    await agent.call('list_ready_tasks');
    const other = await place.ben();
    expect(await other.call('acquire_next_task', { wait_seconds: 10 })).toMatchObject({
      acquired: true,
      task: { id: task },
    });
  });

  it('ends no execution that it only looked at', async () => {
    const task = await place.newTask('held elsewhere');
    const elsewhere = place.service.client(place.adaToken, 'run-1');
    await elsewhere.leases.acquireLease({ taskId: task, executionId: 'run-1' });
    const looking = await place.ada({ env: { HOLDFAST_EXECUTION_ID: 'run-1' } });
    await looking.client.listTools();
    await looking.close();
    const named = await place.ada();
    expect(
      (await named.call('get_task', { task_id: task, execution_id: 'run-1' })).lease_seconds_left,
    ).toBeGreaterThan(0);
    await named.close();
    const { lease } = await place.owner.leases.getLease({ project: place.project, taskId: task });
    expect(lease?.state).toBe(LeaseState.ACTIVE);
  });

  it('acquires again after it ended its own execution, as a new one', async () => {
    await place.newTask('one');
    const agent = await place.ada();
    const first = await agent.call('acquire_next_task');
    await agent.call('end_execution');
    const second = await agent.call('acquire_next_task');
    expect(second).toMatchObject({ acquired: true });
    expect(second.execution_id).not.toBe(first.execution_id);
  });
});

async function laterDeadline(taskId: string, first: string, byMs: number) {
  for (;;) {
    const { task } = await place.owner.tasks.getTask({ project: place.project, taskId });
    const expiresAt = Number(task?.leaseExpiresAt?.seconds ?? 0) * 1_000;
    if (expiresAt > Date.parse(first) + byMs) return { expiresAt };
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
