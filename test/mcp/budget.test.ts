import { encode } from 'gpt-tokenizer';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { type Agent, httpAgent } from './agent.js';
import { setUpPlace } from './place.js';

const place = setUpPlace();
let agent: Agent;

beforeAll(async () => {
  agent = (await httpAgent({ url: place.service.url, token: place.service.ownerToken })).keep();
});
afterAll(() => agent.close());

describe('the tools', () => {
  it('cost less than 4,000 tokens in all', async () => {
    const { tools } = await agent.client.listTools();
    const costs = tools.map((tool) => ({ name: tool.name, tokens: encode(JSON.stringify(tool)).length }));
    expect(encode(JSON.stringify(tools)).length, JSON.stringify(costs)).toBeLessThan(4_000);
  });

  it('have names, schemas, descriptions and all annotations', async () => {
    const { tools } = await agent.client.listTools();
    expect(tools).toHaveLength(13);
    for (const tool of tools) {
      expect(tool.name).toMatch(/^[a-z0-9_]{1,30}$/);
      expect(tool.title).toBeTruthy();
      expect(tool.description?.length).toBeLessThan(130);
      expect(tool.inputSchema.type).toBe('object');
      expect(tool.outputSchema?.type).toBe('object');
      expect(tool.outputSchema?.properties).toHaveProperty('lease_seconds_left');
      expect(tool.outputSchema?.properties).toHaveProperty('lease_lost');
      expect(tool.annotations).toEqual({
        readOnlyHint: expect.any(Boolean),
        destructiveHint: expect.any(Boolean),
        idempotentHint: expect.any(Boolean),
        openWorldHint: false,
      });
    }
  });
});

describe('a ready list of ten', () => {
  test.each([
    ['common titles', 'Write the release notes of version 1.2'],
    ['long titles', 'A title that goes on and on, '.repeat(17)],
    ['titles of long characters', '版本一点二的发行说明'.repeat(40)],
    ['titles that JSON must escape', '"\\'.repeat(200)],
  ])('with %s stays below 1.5 KB', async (_name, title) => {
    for (let i = 0; i < 11; i++) {
      await place.newTask(title, { priority: 1_000, labels: ['backend', 'docs'], body: 'x'.repeat(5_000) });
    }
    const own = await httpAgent({ url: place.service.url, token: place.adaToken });
    const { tasks, more } = await own.call('list_ready_tasks');
    expect(tasks).toHaveLength(10);
    expect(more).toBe(true);
    expect(Buffer.byteLength(JSON.stringify({ tasks, more }))).toBeLessThan(1_500);
  });
});

describe('resources and prompts', () => {
  it('show the board, a task, a plan and a history', async () => {
    const own = await httpAgent({ url: place.service.url, token: place.adaToken });
    const { project } = place;
    const { plan } = await place.owner.tasks.createPlan({ project, title: 'Release' });
    const task = await place.newTask('Build', { planId: plan?.id });
    await own.call('acquire_task', { task_id: task });
    const read = async (uri: string) => {
      const { contents } = await own.client.readResource({ uri });
      return JSON.parse((contents[0] as { text: string }).text);
    };
    const { resources } = await own.client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(['holdfast://board']);
    const { resourceTemplates } = await own.client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'holdfast://task/{id}',
      'holdfast://plan/{id}',
      'holdfast://history/{id}',
    ]);
    expect(await read('holdfast://board')).toMatchObject({
      plans: [{ title: 'Release', progress: '0/1' }],
      ready: [],
      held: [{ task_id: task, holder: expect.stringContaining('ada') }],
    });
    expect(await read(`holdfast://task/${task}`)).toMatchObject({
      task: { title: 'Build', fencing_token: '1' },
    });
    expect(await read(`holdfast://plan/${plan?.id}`)).toMatchObject({
      steps: [{ id: task, status: 'IN_PROGRESS' }],
    });
    expect((await read(`holdfast://history/${task}`)).events[0]).toMatchObject({
      kind: 'LEASE_ACQUIRED',
      actor: 'ada',
    });
    await expect(read(`holdfast://task/${crypto.randomUUID()}`)).rejects.toThrow();
  });

  it('tell how to work the queue and how to plan', async () => {
    const { prompts } = await agent.client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(['work_the_queue', 'plan_this']);
    const said = async (name: string, args: Record<string, string>) => {
      const { messages } = await agent.client.getPrompt({ name, arguments: args });
      return JSON.stringify(messages);
    };
    expect(await said('work_the_queue', { plan_id: 'p1' })).toMatch(/plan p1.*acquire_next_task.*STOP/);
    expect(await said('plan_this', { goal: 'Ship it' })).toMatch(/Ship it.*create_tasks/);
  });
});
