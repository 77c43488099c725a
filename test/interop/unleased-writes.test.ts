import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@bufbuild/protobuf';
import { Enforcement, WriteCode } from '@holdfast/proto/guard';
import { EventKind } from '@holdfast/proto/history';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { Cli, type Outcome } from '../cli/holdfast-process.js';
import { httpAgent } from '../mcp/agent.js';
import { type Board, startBoard } from '../rpc/board.js';
import { METHODS } from '../rpc/methods.js';

interface OpenTask {
  readonly id: string;
  readonly key: string;
  /** A finished task that it waits for. */
  readonly done: string;
  /** A finished task that it does not wait for. */
  readonly other: string;
}

/** What an agent writes to a task that can be leased, by the RPC's name. */
const WRITES: Readonly<Record<string, (task: OpenTask) => JsonObject>> = {
  UpdateTask: ({ id }) => ({ taskId: id, title: 'other' }),
  AddNote: ({ id }) => ({ taskId: id, text: 'mine' }),
  CompleteTask: ({ id }) => ({ taskId: id, result: 'mine' }),
  DropTask: ({ id }) => ({ taskId: id, reason: 'mine' }),
  DeleteTask: ({ id }) => ({ taskId: id }),
  AddDependency: ({ id, other }) => ({ taskId: id, blockedBy: other }),
  RemoveDependency: ({ id, done }) => ({ taskId: id, blockedBy: done }),
  // A sub-task changes what its parent waits for.
  CreateTask: ({ id }) => ({ title: 'part', parentId: id }),
};

/** A finished task cannot be leased: re-planning needs no lease. */
const UNLEASABLE = ['ReopenTask'];

let board: Board;
let cli: Cli;
beforeAll(async () => {
  board = await startBoard();
  cli = new Cli({
    HOLDFAST_URL: board.service.url,
    HOLDFAST_TOKEN: board.agent.token,
    HOLDFAST_EXECUTION_ID: 'ada-run',
  });
});
afterAll(() => cli?.remove());

test('every RPC that takes a proof is tried here', () => {
  const guarded = [...METHODS.values()].filter(({ input }) =>
    input.fields.some(({ name }) => name === 'override_reason'),
  );
  expect(guarded.map(({ name }) => name).toSorted()).toEqual(
    [...Object.keys(WRITES), ...UNLEASABLE].toSorted(),
  );
});

async function openTask(): Promise<OpenTask> {
  const key = `${crypto.randomUUID()}.md#Plan/a task`;
  const finished = async () => {
    const { task } = await board.member.tasks.createTask({ title: 'done' });
    await board.member.tasks.completeTask({ taskId: task?.id ?? '' });
    return task?.id ?? '';
  };
  const [done, other] = await Promise.all([finished(), finished()]);
  const { task } = await board.member.tasks.createTask({
    title: 'a task',
    externalKey: key,
    blockedBy: [done],
  });
  return { id: task?.id ?? '', key, done, other };
}

/** The verdicts in the history of a task, as `kind rpc code`. */
async function verdicts(taskId: string): Promise<string[]> {
  const { events } = await board.admin.history.listHistory({ taskId });
  return events.flatMap(({ kind, payload }) =>
    payload.case === 'guardedWrite'
      ? [`${EventKind[kind]} ${payload.value.rpc} ${WriteCode[payload.value.code]}`]
      : [],
  );
}

type Way = readonly [name: string, rpc: string, write: (task: OpenTask) => Promise<boolean>];

/** Every way in; each answers whether the write was refused, and checks that LOCK_REQUIRED is why. */
const WAYS: readonly Way[] = [
  ...Object.entries(WRITES).map(([rpc, request]): Way => {
    const call = async (task: OpenTask) => {
      const body = { ...request(task), executionId: 'ada-run' };
      const result = await board.any.call(`TaskService/${rpc}`, body, board.agent.token);
      if (result.code === 'Ok') return false;
      const asked = expect.stringMatching(/^LOCK_REQUIRED: .*[Aa]cquire/);
      expect([result.code, result.message]).toEqual(['FailedPrecondition', asked]);
      return true;
    };
    return [`the RPC ${rpc}`, rpc, call];
  }),
  ...(
    [
      ['update', 'UpdateTask', ['--title', 'other']],
      ['note', 'AddNote', ['mine']],
      ['done', 'CompleteTask', []],
      ['drop', 'DropTask', []],
    ] as const
  ).map(([command, rpc, args]) => {
    const run = async ({ id }: OpenTask) => refusedBy(await cli.run('task', command, id, ...args));
    return [`holdfast task ${command}`, rpc, run] as const;
  }),
  [
    'holdfast import',
    'ImportTasks',
    async ({ key }) => {
      const [file = ''] = key.split('#');
      writeFileSync(join(cli.folder, file), '# Plan\n\n- [x] a task\n');
      return refusedBy(await cli.run('import', file));
    },
  ],
  ...(
    [
      ['update_task', 'UpdateTask', { title: 'other' }],
      ['add_note', 'AddNote', { text: 'mine' }],
      ['complete_task', 'CompleteTask', { result: 'mine' }],
    ] as const
  ).map(([tool, rpc, args]) => {
    const call = async ({ id }: OpenTask) => {
      const agent = await httpAgent({ url: board.service.url, token: board.agent.token });
      const { isError, content } = await agent.client.callTool({
        name: tool,
        arguments: { ...args, task_id: id, execution_id: 'ada-run' },
      });
      if (isError) expect(JSON.stringify(content)).toContain('acquire_task');
      return isError === true;
    };
    return [`the tool ${tool}`, rpc, call] as const;
  }),
];

function refusedBy({ code, stderr, stdout }: Outcome): boolean {
  if (code !== 0) expect([code, stderr + stdout]).toEqual([3, expect.stringContaining('LOCK_REQUIRED')]);
  return code !== 0;
}

describe.each(WAYS)('%s without a lease', (_name, rpc, write) => {
  it('is refused in ENFORCE, and changes nothing', async () => {
    await board.admin.projects.updateProject({ settings: { enforcement: Enforcement.ENFORCE } });
    const task = await openTask();
    const before = (await board.admin.tasks.getTask({ taskId: task.id })).task;
    expect(await write(task)).toBe(true);
    expect((await board.admin.tasks.getTask({ taskId: task.id })).task).toEqual(before);
    expect(await verdicts(task.id)).toEqual([`WRITE_REJECTED ${rpc} LOCK_REQUIRED`]);
  });

  it('is done in WARN, told in the history and counted in the report', async () => {
    await board.admin.projects.updateProject({ settings: { enforcement: Enforcement.WARN } });
    const count = async () => {
      const { counts } = await board.admin.history.getEnforcementReport({});
      const ours = counts.filter((one) => one.rpc === rpc && one.principal === 'ada');
      return ours.reduce((sum, { writes }) => sum + Number(writes), 0);
    };
    const before = await count();
    const task = await openTask();
    expect(await write(task)).toBe(false);
    expect(await verdicts(task.id)).toEqual([`WRITE_WARNED ${rpc} LOCK_REQUIRED`]);
    expect(await count()).toBe(before + 1);
  });
});
