import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { type Agent, stdioAgent } from './agent.js';
import { setUpPlace } from './place.js';

const place = setUpPlace();

describe('creating', () => {
  it('makes several tasks with what they wait for, in a new plan, once', async () => {
    const there = await place.newTask('already there');
    const agent = await place.ada();
    const args = {
      plan_title: 'Release',
      tasks: [
        { key: 'ship', title: 'Ship', blocked_by: ['build', 'log'] },
        { key: 'build', title: 'Build', blocked_by: [there] },
        { key: 'log', title: 'Changelog', labels: ['docs'] },
      ],
    };
    const made = await agent.call('create_tasks', args);
    expect(made.tasks.map(({ title }: { title: string }) => title)).toEqual(['Ship', 'Build', 'Changelog']);
    expect(await agent.call('create_tasks', args)).toEqual(made);
    const { steps } = await place.owner.tasks.getPlan({ project: place.project, planId: made.plan_id });
    expect(steps).toHaveLength(3);
    const [ship, build, log] = made.tasks.map(({ id }: { id: string }) => id);
    expect(steps.find(({ id }) => id === ship)?.blockedBy.toSorted()).toEqual([build, log].toSorted());
    expect(steps.find(({ id }) => id === build)?.blockedBy).toEqual([there]);
  });

  it('says what is wrong before anything is made', async () => {
    const agent = await place.ada();
    const circle = [
      { key: 'a', title: 'a', blocked_by: ['b'] },
      { key: 'b', title: 'b', blocked_by: ['a'] },
    ];
    expect(await agent.fail('create_tasks', { tasks: circle })).toMatch(/a → b → a/);
    const twice = [
      { key: 'a', title: 'a' },
      { key: 'a', title: 'b' },
    ];
    expect(await agent.fail('create_tasks', { tasks: twice })).toMatch(/Two tasks have the key "a"/);
    expect((await place.owner.tasks.listTasks({ project: place.project })).tasks).toEqual([]);
  });

  it('says what was made when a later one fails', async () => {
    const agent = await place.ada();
    const tasks = [{ title: 'good' }, { title: 'bad', blocked_by: ['nothing'] }];
    const told = await agent.fail('create_tasks', { tasks });
    expect(told).toMatch(/Done before that: "good" \(.*Not done: "bad"/);
  });
});

describe('watching', () => {
  it('waits for a change, with progress, and misses nothing after it', async () => {
    const task = await place.newTask('watched');
    const agent = await place.ada();
    const quiet = await agent.call('watch_task', { task_id: task, wait_seconds: 1 });
    expect(quiet).toMatchObject({ changed: false, events: [], task: { status: 'OPEN' } });
    await place.owner.tasks.addNote({ project: place.project, taskId: task, text: 'between' });
    const missed = await agent.call('watch_task', { task_id: task, after: quiet.after });
    expect(missed).toMatchObject({ changed: true, events: [{ kind: 'NOTE_ADDED', text: 'between' }] });
    const waiting = agent.call('watch_task', { task_id: task, after: missed.after });
    await place.owner.tasks.completeTask({ project: place.project, taskId: task, result: 'ok' });
    const told = await waiting;
    expect(told).toMatchObject({ changed: true, task: { status: 'DONE', result: 'ok' } });
    expect(told.events.map(({ kind }: { kind: string }) => kind)).toContain('TASK_COMPLETED');
  });

  it('tells progress while it waits', async () => {
    const task = await place.newTask('watched');
    const agent = await place.ada();
    const told: number[] = [];
    await agent.client.callTool(
      { name: 'watch_task', arguments: { task_id: task, wait_seconds: 6 } },
      { onprogress: ({ progress }) => told.push(progress) },
    );
    expect(told).toEqual([5]);
  });
});

describe('bad arguments', () => {
  let agent: Agent;
  beforeAll(async () => {
    agent = (await stdioAgent({ url: place.service.url, token: place.service.ownerToken })).keep();
  });
  afterAll(() => agent.close());

  test.each([
    ['acquire_next_task', { wait_seconds: 51 }, /wait_seconds: .*50.*wait_seconds \(integer 0 to 50\)/],
    ['acquire_next_task', { ttl_seconds: 0 }, /ttl_seconds \(integer 1 to 7200\)/],
    ['acquire_next_task', { labels: 'docs' }, /labels \(list of strings\)/],
    ['acquire_task', {}, /task_id: .*task_id \(string, required\)/],
    ['acquire_task', { taskId: 'x' }, /"taskId".*task_id \(string, required\)/],
    ['renew_lease', { task_id: 5 }, /task_id: .*string/],
    ['release_task', { task_id: '' }, /task_id: /],
    ['complete_task', { task_id: 'x', result: 1 }, /result: .*string/],
    ['update_task', { task_id: 'x', status: 'DONE' }, /"DROPPED".*"OPEN"/],
    ['update_task', { task_id: 'x' }, /Say what to change.*title/],
    ['update_task', { task_id: 'x', priority: 1.5 }, /priority: .*int/],
    ['add_note', { task_id: 'x', text: '' }, /text: /],
    ['list_ready_tasks', { limit: 101 }, /limit \(integer 1 to 100\)/],
    ['get_task', { task_id: 'x', detail: 'yes' }, /detail \(boolean\)/],
    ['create_tasks', { tasks: [] }, /tasks: .*list of \{key, title/],
    ['create_tasks', { tasks: [{ title: 'x' }], plan_id: 'p', plan_title: 't' }, /not both/],
    ['check_lease', { task: 'x' }, /task_id \(string, required\)/],
    ['watch_task', { task_id: 'x', wait_seconds: 60 }, /wait_seconds \(integer 1 to 50\)/],
    ['end_execution', { all: true }, /"all".*execution_id \(string\)/],
  ])('%s %j', async (tool, args, text) => {
    expect(await agent.fail(tool, args)).toMatch(text);
  });

  test.each([
    ['get_task', /get_task failed\. /],
    ['watch_task', /watch_task failed\. /],
    ['acquire_task', /acquire_task failed\. /],
    ['complete_task', /complete_task failed\. /],
    ['check_lease', /check_lease failed\. /],
  ])('%s of an unknown task', async (tool, text) => {
    expect(await agent.fail(tool, { task_id: crypto.randomUUID() })).toMatch(text);
  });

  it("names the server's own complaint", async () => {
    const told = await agent.fail('create_tasks', { tasks: [{ title: 'x', labels: ['\u0000'] }] });
    expect(told).toMatch(/^Correct the arguments and call create_tasks again\. labels/);
  });
});
