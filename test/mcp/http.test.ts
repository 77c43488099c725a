import { connect } from 'node:http2';
import { text } from 'node:stream/consumers';
import { TaskStatus } from '@holdfast/proto/task';
import { describe, expect, it, test } from 'vitest';
import { startTestService } from '../support/service.js';
import { httpAgent } from './agent.js';
import { setUpPlace } from './place.js';

const place = setUpPlace();
const ada = (more: { era?: 'newest' | 'legacy' } = {}) =>
  httpAgent({ url: place.service.url, token: place.adaToken, ...more });
const ben = () => httpAgent({ url: place.service.url, token: place.benToken });

describe.each(['newest', 'legacy'] as const)('the loop over HTTP, %s', (era) => {
  it('goes by the execution that the first answer names', async () => {
    const task = await place.newTask('Write the changelog');
    const agent = await ada({ era });
    expect(agent.client.getInstructions()).toMatch(/execution_id/);
    const { execution_id, lease } = await agent.call('acquire_next_task', { ttl_seconds: 60 });
    const renewed = await agent.call('renew_lease', { task_id: task, execution_id, progress: '50 %' });
    expect(Date.parse(renewed.lease.expires_at)).toBeGreaterThanOrEqual(Date.parse(lease.expires_at));
    expect(await agent.fail('complete_task', { task_id: task })).toMatch(
      /^Send execution_id with complete_task/,
    );

    const other = await ben();
    expect(await other.call('acquire_task', { task_id: task })).toMatchObject({
      acquired: false,
      reason: 'HELD',
    });
    expect(await other.fail('complete_task', { task_id: task, execution_id })).toMatch(/LOCKED_BY_OTHER/);

    // Nothing is kept between calls: another connection of the same caller may finish.
    const later = await ada({ era });
    expect(
      await later.call('complete_task', { task_id: task, execution_id, result: 'merged' }),
    ).toMatchObject({
      task: { status: 'DONE', result: 'merged' },
    });
    expect(await later.call('end_execution', { execution_id })).toMatchObject({ freed_tasks: [] });
    await place.newTask('another');
    expect(await agent.call('acquire_next_task', { execution_id })).toMatchObject({
      acquired: false,
      reason: 'EXECUTION_ENDED',
    });
  });
});

it('renews with every call of the execution, and tells what it lost', async () => {
  const task = await place.newTask('x');
  const agent = await ada();
  const { execution_id, lease } = await agent.call('acquire_next_task', { ttl_seconds: 60 });
  await agent.call('list_ready_tasks', { execution_id });
  const after = await place.owner.tasks.getTask({ project: place.project, taskId: task });
  const expiresAt = after.task?.leaseExpiresAt;
  expect(Number(expiresAt?.seconds) * 1_000 + Number(expiresAt?.nanos) / 1e6).toBeGreaterThan(
    Date.parse(lease.expires_at),
  );
  await place.owner.leases.forceReleaseLease({ project: place.project, taskId: task, reason: 'test' });
  expect((await agent.call('list_ready_tasks', { execution_id })).lease_lost).toHaveLength(1);
  expect(await agent.fail('complete_task', { task_id: task, execution_id })).toMatch(/^STOP: /);
  expect(after.task?.status).toBe(TaskStatus.IN_PROGRESS);
});

it('waits for a change with progress, and is answered when the server stops', async () => {
  const service = await startTestService({ databaseUrl: place.service.databaseUrl });
  const task = await place.newTask('watched');
  const agent = await httpAgent({ url: service.url, token: place.adaToken });
  const told: number[] = [];
  const watching = agent.client.callTool(
    { name: 'watch_task', arguments: { task_id: task, wait_seconds: 50 } },
    { onprogress: ({ progress }) => told.push(progress) },
  );
  await expect.poll(() => told.length, { timeout: 20_000 }).toBeGreaterThan(0);
  await service.stop();
  expect((await watching).content).toHaveLength(1);
});

async function complaintOf(answer: Response): Promise<string> {
  const { error } = (await answer.json()) as { error: { message: string } };
  return error.message;
}

describe('who calls', () => {
  const post = (headers: Record<string, string>, path = '/mcp', { url } = place.service) =>
    fetch(new URL(path, url), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
    });

  test.each([
    ['no token', {}, 401, /A token is missing/],
    ['a token of nobody', { authorization: 'Bearer hf_nobody' }, 401, /not valid/],
    ['no bearer', { authorization: 'Basic eDp5' }, 401, /A token is missing/],
  ])('%s', async (_name, headers, status, message) => {
    const answer = await post(headers as Record<string, string>);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(await complaintOf(answer)).toMatch(message);
  });

  it('is not who had a token that was revoked', async () => {
    const { tokens } = await place.owner.projects.listTokens({ project: place.project });
    const tokenId = tokens.find(({ principal }) => principal === 'ada')?.id ?? '';
    expect((await post({ authorization: `Bearer ${place.adaToken}` })).status).toBe(200);
    await place.owner.projects.revokeToken({ project: place.project, tokenId });
    expect((await post({ authorization: `Bearer ${place.adaToken}` })).status).toBe(401);
  });

  it('sees nothing of another project', async () => {
    const { task } = await place.owner.tasks.createTask({ project: 'default', title: 'theirs' });
    const agent = await ada();
    expect(await agent.fail('get_task', { task_id: task?.id })).toMatch(/no task|not there|There is no/i);
  });

  it('is not a page of another site', async () => {
    const authorization = `Bearer ${place.adaToken}`;
    expect((await post({ authorization, origin: 'http://evil.example' })).status).toBe(403);
    expect((await post({ authorization, origin: place.service.url })).status).toBe(200);
  });

  it('is a page of a host that is allowed', async () => {
    const service = await startTestService({ allowedHosts: ['holdfast.example.com'] });
    const authorization = `Bearer ${await service.token('AGENT', 'agent', 'ada')}`;
    const from = (origin: string) => post({ authorization, origin }, '/mcp', service);
    expect((await from('https://holdfast.example.com')).status).toBe(200);
    expect((await from('https://evil.example')).status).toBe(403);
  });

  it('is told which tools there are', async () => {
    const answer = await post({ authorization: `Bearer ${place.adaToken}` }, '/mcp?tools=none');
    expect(answer.status).toBe(400);
    expect(await complaintOf(answer)).toMatch(/tools=holdfast/);
  });

  it('may not send without end', async () => {
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/list',
      params: { x: 'y'.repeat(2 ** 20) },
    });
    const answer = await fetch(new URL('/mcp', place.service.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${place.adaToken}` },
      body,
    });
    expect(answer.status).toBe(413);
  });
});

it('answers over HTTP/2 too', async () => {
  const session = connect(place.service.url);
  try {
    const stream = session.request({
      ':method': 'POST',
      ':path': '/mcp',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${place.adaToken}`,
    });
    stream.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }));
    expect(await text(stream)).toMatch(/acquire_next_task/);
  } finally {
    session.destroy();
  }
});

test('over the quota is 429, with when to come again, and nothing for the log of faults', async () => {
  const service = await startTestService({ quotas: { requestsPerSecond: 1 } });
  const ask = () =>
    fetch(`${service.url}/mcp`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.ownerToken}`, 'content-type': 'application/json' },
      body: '{}',
    });
  const answers = await Promise.all(Array.from({ length: 40 }, ask));
  const statuses = new Set(answers.map(({ status }) => status));
  expect(statuses).toContain(429);
  expect([...statuses].every((status) => status < 500)).toBe(true);
  expect(answers.find(({ status }) => status === 429)?.headers.get('retry-after')).toBe('1');
});
