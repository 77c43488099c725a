import { encode } from 'gpt-tokenizer';
import { describe, expect, it, test } from 'vitest';
import { httpAgent } from './agent.js';
import { setUpPlace } from './place.js';

const place = setUpPlace();
const ada = (tools: string) =>
  httpAgent({ url: place.service.url, token: place.adaToken, query: `?tools=${tools}` });
const namesOf = async (tools: string) => {
  const agent = await ada(tools);
  return (await agent.client.listTools()).tools.map(({ name }) => name);
};

test.each(['marq', 'seamless'])('the tools of %s stay within the budget too', async (name) => {
  const agent = await ada(name);
  const { tools } = await agent.client.listTools();
  expect(encode(JSON.stringify(tools)).length).toBeLessThan(4_000);
});

describe('the names of MarQ', () => {
  it('work for the loop', async () => {
    const task = await place.newTask('x');
    expect(await namesOf('marq')).toEqual(
      expect.arrayContaining(['pm_acquire_task', 'pm_renew_task_lock', 'pm_release_task', 'complete_task']),
    );
    const agent = await ada('marq');
    expect(agent.client.getInstructions()).toMatch(/pm_release_task/);
    const { execution_id, next } = await agent.call('pm_acquire_task', { task_id: task, ttl_seconds: 60 });
    expect(next).toMatch(/pm_renew_task_lock/);
    expect(await agent.call('pm_renew_task_lock', { task_id: task, execution_id })).toMatchObject({
      renewed: true,
    });
    expect(await agent.call('pm_release_task', { task_id: task, execution_id })).toMatchObject({
      released: true,
    });
    expect(await agent.fail('add_note', { task_id: task, execution_id, text: 'x' })).toMatch(
      /^Call pm_acquire_task/,
    );
  });

  it('are also those of stdio', async () => {
    const agent = await place.ada({ args: ['--tools', 'marq'] });
    expect((await agent.client.listTools()).tools.map(({ name }) => name)).toContain('pm_acquire_task');
  });
});

describe('the names and arguments of Seamless', () => {
  it('work for the loop', async () => {
    const agent = await ada('seamless');
    expect(await namesOf('seamless')).toEqual(
      expect.arrayContaining([
        'tasks_ready',
        'tasks_claim',
        'tasks_release',
        'tasks_update',
        'tasks_add',
        'tasks_list',
      ]),
    );
    const blocker = (await agent.call('tasks_add', { title: 'first', execution_id: 'run' })).tasks[0];
    const second = { title: 'second', depends_on: blocker.id, execution_id: 'run' };
    const blocked = (await agent.call('tasks_add', second)).tasks[0];
    expect((await agent.call('tasks_ready')).tasks).toEqual([{ id: blocker.id, title: 'first' }]);
    const claimed = await agent.call('tasks_claim', {
      id: blocker.id,
      lease_seconds: '600',
      execution_id: 'run',
    });
    expect(claimed).toMatchObject({ acquired: true });
    expect(claimed.lease_seconds_left).toBeGreaterThan(500);
    const update = (args: object) =>
      agent.call('tasks_update', { id: blocker.id, execution_id: 'run', ...args });
    await update({ body: 'more' });
    expect(await agent.call('tasks_list', { id: blocker.id })).toMatchObject({
      tasks: [{ body: 'more', status: 'IN_PROGRESS' }],
    });
    expect(await update({ status: 'done', title: 'First' })).toMatchObject({ became_ready: [blocked.id] });
    expect(await agent.call('tasks_list', { status: 'done' })).toMatchObject({
      tasks: [{ title: 'First', status: 'DONE' }],
    });
    await update({ status: 'open' });
    expect(await agent.call('tasks_list', { status: 'open' })).toMatchObject({ tasks: [{}, {}] });
    await agent.call('tasks_claim', { id: blocker.id, execution_id: 'run' });
    expect(await update({ status: 'open' })).toMatchObject({ released: true });
    await update({ status: 'in_progress' });
    expect(await agent.call('tasks_release', { id: blocker.id, execution_id: 'run' })).toMatchObject({
      released: true,
    });
  });

  it('are guarded like ours', async () => {
    const task = await place.newTask('x');
    const agent = await ada('seamless');
    const args = { id: task, execution_id: 'run' };
    for (const change of [
      { status: 'done' },
      { status: 'dropped' },
      { title: 'y' },
      { add_depends_on: 'z' },
    ]) {
      expect(await agent.fail('tasks_update', { ...args, ...change })).toMatch(/tasks_claim .*LOCK_REQUIRED/);
    }
    expect(await agent.fail('tasks_update', { ...args, status: 'closed' })).toMatch(/"open".*"dropped"/);
  });
});
