import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { EventKind, HistoryOrder, PrincipalKind } from '@holdfast/proto/history';
import { TaskStatus } from '@holdfast/proto/task';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Board, hold, startBoard } from './board.js';

let board: Board;
beforeAll(async () => {
  board = await startBoard();
});

const kindsOf = (events: readonly { kind: EventKind }[]) => events.map(({ kind }) => EventKind[kind]);

describe('ListHistory', () => {
  it('tells a task’s life, who did it and with which token', async () => {
    const { id: taskId } = await board.task('whole life');
    const proof = await hold(board.agent, taskId);
    const by = { taskId, executionId: 'ada-run', proof };
    await board.agent.tasks.addNote({ ...by, text: 'half' });
    await board.agent.tasks.completeTask({ ...by, result: 'merged' });
    const { events } = await board.viewer.history.listHistory({ taskId });
    expect(kindsOf(events)).toEqual([
      'TASK_CREATED',
      'TASK_READY',
      'LEASE_ACQUIRED',
      'NOTE_ADDED',
      'TASK_COMPLETED',
      'LEASE_RELEASED',
    ]);
    expect(events[2]).toMatchObject({
      actor: 'ada',
      actorKind: PrincipalKind.AGENT,
      executionId: 'ada-run',
      fencingToken: 1n,
      project: 'default',
      payload: {
        case: 'leaseGranted',
        value: { attempt: 1, holder: { principal: 'ada', executionId: 'ada-run' } },
      },
    });
    expect(events[4]?.payload).toMatchObject({ case: 'taskCompleted', value: { result: 'merged' } });
    const { events: newest } = await board.viewer.history.listHistory({
      taskId,
      order: HistoryOrder.NEWEST_FIRST,
    });
    expect(newest).toEqual(events.toReversed());
  });

  it('is filtered by kind, actor, execution, task and time, all at once', async () => {
    const { id: taskId } = await board.task('filtered');
    const { id: other } = await board.task('other');
    for (const id of [taskId, other]) {
      await board.member.tasks.addNote({ taskId: id, text: 'mine', executionId: 'mia-run' });
      await board.admin.tasks.addNote({ taskId: id, text: 'hers', executionId: 'alma-run' });
    }
    const list = async (filter: Parameters<typeof board.viewer.history.listHistory>[0]) =>
      (await board.viewer.history.listHistory(filter)).events;
    const notes = await list({ taskId, kinds: [EventKind.NOTE_ADDED] });
    expect(notes.map(({ actor }) => actor)).toEqual(['mia', 'alma']);
    expect(await list({ taskId, kinds: [EventKind.NOTE_ADDED], actor: 'MIA' })).toEqual([notes[0]]);
    expect(await list({ taskId, executionId: 'alma-run' })).toEqual([notes[1]]);
    expect(await list({ actor: 'alma', executionId: 'mia-run' })).toEqual([]);
    expect(await list({ taskId, kinds: [EventKind.TASK_CREATED, EventKind.NOTE_ADDED] })).toHaveLength(3);

    const at = notes[0]?.at;
    const since = await list({ taskId, ...(at && { since: at }) });
    expect(since).toEqual(notes);
    const until = await list({ taskId, ...(at && { until: at }) });
    expect(kindsOf(until)).toEqual(['TASK_CREATED', 'TASK_READY']);
    const later = timestampFromMs(timestampMs(at ?? timestampFromMs(0)) + 3_600_000);
    expect(await list({ taskId, since: later })).toEqual([]);
    expect(await list({ taskId, since: timestampFromMs(-62135596800000), until: later })).toHaveLength(4);
  });

  it('tells what happened before it was asked', async () => {
    for (let n = 0; n < 20; n++) {
      const { id: taskId } = await board.task(`at once ${n}`);
      expect(kindsOf((await board.viewer.history.listHistory({ taskId })).events)).toEqual([
        'TASK_CREATED',
        'TASK_READY',
      ]);
    }
  });
});

describe('ListTasks', () => {
  it('is filtered by status, plan, labels, assignee and holder', async () => {
    const { plan } = await board.member.tasks.createPlan({ title: 'plan' });
    const planId = plan?.id ?? '';
    const make = async (labels: string[], assignee: string) =>
      (await board.member.tasks.createTask({ title: 't', planId, labels, assignee })).task?.id ?? '';
    const [a, b, c] = [await make(['x'], 'ada'), await make(['x', 'y'], 'Rob'), await make(['y'], '')];
    await hold(board.agent, a);
    await board.member.tasks.completeTask({ taskId: c });
    const list = async (filter: Parameters<typeof board.viewer.tasks.listTasks>[0]) =>
      (await board.viewer.tasks.listTasks({ planId, ...filter })).tasks.map(({ id }) => id);
    expect(await list({})).toEqual([a, b, c]);
    expect(await list({ labels: ['x'] })).toEqual([a, b]);
    expect(await list({ labels: ['x', 'y'] })).toEqual([b]);
    expect(await list({ labels: ['z'] })).toEqual([]);
    expect(await list({ assignee: 'ROB' })).toEqual([b]);
    expect(await list({ holder: 'Ada' })).toEqual([a]);
    expect(await list({ statuses: [TaskStatus.IN_PROGRESS] })).toEqual([a]);
    expect(await list({ statuses: [TaskStatus.OPEN, TaskStatus.DONE] })).toEqual([b, c]);
    expect(await list({ statuses: [TaskStatus.OPEN], labels: ['y'] })).toEqual([b]);
  });

  it('shows a task whose lease ran out as open, and as nobody’s, before anyone recorded it', async () => {
    const quiet = await startBoard({ withFeed: false });
    const { id: taskId } = await quiet.task();
    await hold(quiet.agent, taskId, 1);
    const held = await quiet.viewer.tasks.listTasks({ statuses: [TaskStatus.IN_PROGRESS] });
    expect(held.tasks[0]?.holder?.principal).toBe('ada');
    await expect
      .poll(async () => (await quiet.viewer.tasks.listTasks({ statuses: [TaskStatus.OPEN] })).tasks.length, {
        timeout: 5_000,
      })
      .toBe(1);
    const { task } = await quiet.viewer.tasks.getTask({ taskId });
    expect([task?.status, task?.holder, task?.leaseExpiresAt]).toEqual([
      TaskStatus.OPEN,
      undefined,
      undefined,
    ]);
    expect((await quiet.viewer.tasks.listTasks({ holder: 'ada' })).tasks).toEqual([]);
    expect((await quiet.viewer.leases.listLeases({})).leases).toEqual([]);
  });
});
