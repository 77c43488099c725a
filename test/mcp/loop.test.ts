import { Enforcement } from '@holdfast/proto/guard';
import { EventKind } from '@holdfast/proto/history';
import { TaskStatus } from '@holdfast/proto/task';
import { describe, expect, it } from 'vitest';
import { setUpPlace } from './place.js';

const place = setUpPlace();

const statusOf = async (taskId: string) =>
  (await place.owner.tasks.getTask({ project: place.project, taskId })).task?.status;

describe.each(['newest', 'auto', 'legacy'] as const)('the loop, %s', (era) => {
  it('acquires, notes progress, renews, completes and ends', async () => {
    const first = await place.newTask('Write the changelog', { body: 'All of it.', priority: 5 });
    const second = await place.newTask('Build', { blockedBy: [first] });
    const agent = await place.ada({ era });
    expect(agent.client.getServerVersion()?.name).toBe('holdfast');
    expect(agent.client.getInstructions()).toMatch(/acquire_next_task/);

    const { tasks } = await agent.call('list_ready_tasks');
    expect(tasks).toEqual([{ id: first, title: 'Write the changelog', priority: 5 }]);

    const granted = await agent.call('acquire_next_task', { ttl_seconds: 60 });
    expect(granted).toMatchObject({
      acquired: true,
      task: { id: first, title: 'Write the changelog', body: 'All of it.', status: 'IN_PROGRESS' },
      lease: { fencing_token: '1' },
      continuation: { attempt: 1 },
      next: expect.stringContaining('complete_task'),
    });
    expect(granted.lease_seconds_left).toBeGreaterThan(50);

    const again = await agent.call('acquire_task', { task_id: first });
    expect(again).toMatchObject({ acquired: true, lease: { fencing_token: '1', renewed: true } });

    const renewed = await agent.call('renew_lease', { task_id: first, progress: '50 %', ttl_seconds: 600 });
    expect(Date.parse(renewed.lease.expires_at)).toBeGreaterThan(Date.parse(granted.lease.expires_at));
    expect(renewed.lease_seconds_left).toBeGreaterThan(granted.lease_seconds_left);

    await agent.call('add_note', { task_id: first, text: 'The fixes are missing.' });
    await agent.call('update_task', { task_id: first, priority: 7, labels: ['docs'] });
    const read = await agent.call('get_task', { task_id: first });
    expect(read).toMatchObject({
      task: { priority: 7, labels: ['docs'], holder: expect.stringContaining('ada') },
      notes: [{ author: 'ada', text: 'The fixes are missing.' }, { text: '50 %' }],
    });
    expect(await agent.call('check_lease', { task_id: first })).toMatchObject({
      live: true,
      verdict: 'ALLOWED',
    });

    const done = await agent.call('complete_task', { task_id: first, result: 'merged' });
    expect(done).toMatchObject({ task: { status: 'DONE', result: 'merged' }, became_ready: [second] });
    expect(done).not.toHaveProperty('lease_seconds_left');

    const next = await agent.call('acquire_next_task');
    expect(next.continuation.dependency_results).toEqual([
      { id: first, title: 'Write the changelog', result: 'merged' },
    ]);
    expect(
      await agent.call('release_task', { task_id: second, note: 'Somebody else, please.' }),
    ).toMatchObject({
      released: true,
    });
    expect(await agent.call('release_task', { task_id: second })).toMatchObject({
      released: false,
      lease_state: 'RELEASED',
    });
    expect(await agent.call('acquire_next_task')).toMatchObject({ acquired: true });
    expect(await agent.call('end_execution')).toMatchObject({ freed_tasks: [second], already_ended: false });
  });
});

describe('a refusal', () => {
  it('is an answer with alternatives, and the agent pivots', async () => {
    const wanted = await place.newTask('wanted');
    const other = await place.newTask('other');
    const [first, second] = await Promise.all([place.ada(), place.ben()]);
    await first.call('acquire_task', { task_id: wanted });
    const refused = await second.call('acquire_task', { task_id: wanted });
    expect(refused).toMatchObject({
      acquired: false,
      reason: 'HELD',
      refusal: { holder: expect.stringContaining('ada'), retry_after_seconds: expect.any(Number) },
      alternatives: [{ id: other, title: 'other' }],
      next: expect.stringContaining('acquire_task'),
    });
    const [alternative] = refused.alternatives;
    expect(await second.call('acquire_task', { task_id: alternative.id })).toMatchObject({ acquired: true });
    const nothing = await second.call('acquire_next_task');
    expect(nothing).toMatchObject({ acquired: false, reason: 'NOTHING_READY', alternatives: [] });
    expect(await second.call('list_ready_tasks')).toMatchObject({
      tasks: [],
      not_ready: [{ title: 'wanted' }, { title: 'other' }],
    });
  });

  it('names what a blocked task waits for', async () => {
    const blocker = await place.newTask('first');
    const task = await place.newTask('second', { blockedBy: [blocker] });
    const agent = await place.ada();
    expect(await agent.call('acquire_task', { task_id: task })).toMatchObject({
      acquired: false,
      reason: 'DEPENDENCIES_UNMET',
      refusal: { unmet_dependencies: [{ id: blocker, title: 'first', status: 'OPEN' }] },
    });
  });
});

describe('without a valid lease', () => {
  it('every tool that writes a task is refused, and says to acquire first', async () => {
    const task = await place.newTask('guarded');
    const agent = await place.ada();
    const writes: [string, Record<string, unknown>][] = [
      ['complete_task', { result: 'done' }],
      ['add_note', { text: 'note' }],
      ['update_task', { title: 'new' }],
      ['update_task', { status: 'DROPPED' }],
      ['update_task', { add_blocked_by: [await place.newTask('other')] }],
    ];
    for (const [tool, args] of writes) {
      expect(await agent.fail(tool, { task_id: task, ...args })).toMatch(
        /^Call acquire_task .*LOCK_REQUIRED/,
      );
    }
    const subTask = await agent.fail('create_tasks', { tasks: [{ title: 'child', parent_id: task }] });
    expect(subTask).toMatch(/^Call acquire_task .*LOCK_REQUIRED/);
    expect(await agent.fail('renew_lease', { task_id: task })).toMatch(/hold no lease .* acquire_task/);
    expect(await agent.fail('release_task', { task_id: task })).toMatch(/hold no lease/);
    expect(await agent.call('check_lease', { task_id: task })).toMatchObject({
      live: false,
      verdict: 'LOCK_REQUIRED',
    });
    expect(await statusOf(task)).toBe(TaskStatus.OPEN);
  });

  it('tells STOP when the lease is lost, keeps the late result, and goes on telling until the next grant', async () => {
    const task = await place.newTask('slow');
    const agent = await place.ada();
    await agent.call('acquire_task', { task_id: task });
    await place.owner.leases.forceReleaseLease({ project: place.project, taskId: task, reason: 'test' });
    const other = await place.ben();
    await other.call('acquire_task', { task_id: task });

    expect((await agent.call('list_ready_tasks')).lease_lost).toEqual([
      expect.stringMatching(new RegExp(`^STOP: your lease on task ${task} was taken away`)),
    ]);
    expect(await agent.fail('renew_lease', { task_id: task })).toMatch(/^STOP: .*STALE_LOCK/);
    expect(await agent.fail('check_lease', { task_id: task })).toMatch(/^STOP: /);
    expect(await agent.fail('add_note', { task_id: task, text: 'late' })).toMatch(/^STOP: .*ben/);
    expect(await agent.fail('complete_task', { task_id: task, result: 'late work' })).toMatch(/^STOP: /);
    const { events } = await place.owner.history.listHistory({
      project: place.project,
      kinds: [EventKind.WRITE_REJECTED],
    });
    const kept = events.map(({ payload }) => payload.case === 'guardedWrite' && payload.value.keptResult);
    expect(kept).toContain('late work');

    await place.newTask('next');
    expect((await agent.call('acquire_next_task')).lease_lost).toHaveLength(1);
    expect(await agent.call('get_task', { task_id: task })).not.toHaveProperty('lease_lost');
  });

  it('is done with a warning in WARN', async () => {
    await place.owner.projects.updateProject({
      project: place.project,
      settings: { enforcement: Enforcement.WARN },
    });
    const task = await place.newTask('loose');
    const agent = await place.ada();
    expect(await agent.call('add_note', { task_id: task, text: 'hello' })).toMatchObject({
      warning: expect.stringContaining('LOCK_REQUIRED'),
    });
    expect(await place.kinds(task)).toContain('WRITE_WARNED');
    expect(await agent.call('complete_task', { task_id: task })).toMatchObject({ task: { status: 'DONE' } });
  });
});

describe('one identity over every client', () => {
  it('completes over MCP what the same execution acquired elsewhere', async () => {
    const task = await place.newTask('shared');
    const elsewhere = place.service.client(place.adaToken, 'run-1');
    await elsewhere.leases.acquireLease({ project: place.project, taskId: task, executionId: 'run-1' });
    const agent = await place.ada({ env: { HOLDFAST_EXECUTION_ID: 'run-1' } });
    expect((await agent.call('get_task', { task_id: task })).lease_seconds_left).toBeGreaterThan(0);
    expect(await agent.call('complete_task', { task_id: task })).toMatchObject({ task: { status: 'DONE' } });
  });

  it("does not take another principal's execution for one's own", async () => {
    const task = await place.newTask('mine');
    const agent = await place.ada();
    const { execution_id } = await agent.call('acquire_task', { task_id: task });
    const other = await place.ben();
    const stolen = await other.fail('complete_task', { task_id: task, execution_id });
    expect(stolen).toMatch(/^Do not write .*LOCKED_BY_OTHER.*ada/);
    expect(await other.fail('renew_lease', { task_id: task, execution_id })).toMatch(/hold no lease/);
  });
});
