import { beforeAll, describe, expect, it } from 'vitest';
import { type Board, startBoard } from './board.js';
import { refused } from './refused.js';

/** The longest name there may be: 256 characters of three bytes each, which nothing can compress. */
function longest(seed: number): string {
  const points = Array.from({ length: 256 }, (_, n) => 0x4e00 + (((n + 1) * (seed * 2 + 7919)) % 20_000));
  return String.fromCodePoint(...points);
}

const project = longest(1);
const principal = longest(2);
const executionId = longest(3);

let board: Board;
beforeAll(async () => {
  board = await startBoard();
  await board.owner.projects.createProject({ project, requestId: longest(4) });
});

describe('names as long as they may be', () => {
  it('work everywhere at once', async () => {
    const agent = board.service.client(await board.service.token('AGENT', 'agent', principal, project));
    expect(await agent.projects.whoAmI({})).toMatchObject({ principal, project });
    const made = await agent.tasks.createTask({
      title: longest(5),
      externalKey: longest(6),
      assignee: principal,
      labels: Array.from({ length: 64 }, (_, n) => longest(100 + n).slice(0, 64)),
      executionId,
      requestId: longest(7),
    });
    const taskId = made.task?.id ?? '';
    const request = { taskId, executionId, requestId: longest(8) };
    const { outcome } = await agent.leases.acquireLease(request);
    const lease = outcome.case === 'grant' ? outcome.value.lease : undefined;
    const proof = { leaseId: lease?.id ?? '', fencingToken: 1n };
    const text = 'é'.repeat(32_768);
    await agent.tasks.addNote({ taskId, executionId, proof, text, requestId: longest(9) });
    expect((await agent.leases.renewExecution({ executionId })).renewed).toHaveLength(1);
    expect((await agent.leases.listLeases({ principal, executionId, pageSize: 1 })).leases).toHaveLength(1);
    const done = { taskId, executionId, proof, result: text, requestId: longest(10) };
    expect((await agent.tasks.completeTask(done)).task?.closedBy).toBe(principal);
    expect((await agent.tasks.completeTask(done)).task?.result).toBe(text);
    expect((await agent.leases.endExecution({ executionId })).released).toEqual([]);
    const { events } = await agent.history.listHistory({ taskId, actor: principal, executionId });
    expect(events.length).toBeGreaterThan(3);
    expect((await agent.tasks.getTask({ externalKey: longest(6) })).task?.id).toBe(taskId);
    await agent.tasks.deleteTask({ taskId, executionId });
    const { plan } = await agent.tasks.createPlan({
      title: 'p',
      externalKey: longest(11),
      executionId,
      requestId: longest(12),
    });
    expect((await agent.tasks.getPlan({ externalKey: longest(11) })).plan?.id).toBe(plan?.id);
  });

  it('and writes of them that are refused are kept', async () => {
    const agent = board.service.client(await board.service.token('AGENT', 'agent', principal, project));
    await board.owner.projects.updateProject({ project, settings: { enforcement: 3 } });
    const { task } = await agent.tasks.createTask({ title: 't', executionId });
    const taskId = task?.id ?? '';
    const rejected = agent.tasks.completeTask({ taskId, executionId, result: 'late' });
    expect(await refused(rejected)).toMatchObject({ verdict: 'LOCK_REQUIRED' });
    const { events } = await agent.history.listHistory({ taskId, kinds: [22] });
    expect(events).toHaveLength(1);
  });

  it('may not be longer, in characters or in bytes', async () => {
    const tooLong = [`${project}x`, '𝕏'.repeat(193)];
    for (const [field, value] of tooLong.flatMap((value) => [
      ['project', value],
      ['requestId', value],
    ])) {
      const request = { project: 'p', [field ?? '']: value };
      expect(await refused(board.owner.projects.createProject(request))).toMatchObject({
        code: 'InvalidArgument',
        field: field === 'project' ? 'project' : 'request_id',
      });
    }
  });
});
