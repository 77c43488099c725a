import { EventKind } from '@holdfast/proto/history';
import { TaskStatus } from '@holdfast/proto/task';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Board, hold, startBoard } from './board.js';
import { refused } from './refused.js';

let board: Board;
beforeAll(async () => {
  board = await startBoard();
});

describe('a task', () => {
  it('is what it was made of', async () => {
    const { plan } = await board.member.tasks.createPlan({ title: 'plan' });
    const wanted = {
      title: 'Größe messen 測る 🦉',
      body: 'line one\nline two\t\u0001',
      priority: -2147483648,
      labels: ['b', 'a', 'b'],
      planId: plan?.id ?? '',
      externalKey: 'key/1',
      assignee: 'ADA',
    };
    const { task } = await board.member.tasks.createTask(wanted);
    expect(task).toMatchObject({
      ...wanted,
      labels: ['b', 'a'],
      assignee: 'ada',
      planOrder: 1,
      project: 'default',
      status: TaskStatus.OPEN,
      fencingToken: 0n,
      attempt: 0,
      createdBy: 'mia',
      closedBy: '',
    });
    const byKey = await board.viewer.tasks.getTask({ externalKey: 'key/1' });
    const byId = await board.viewer.tasks.getTask({ taskId: task?.id ?? '' });
    expect(byKey).toEqual(byId);
    expect(byId.task).toEqual(task);
  });

  it('is named by its id or by its key, not by both and not by nothing', async () => {
    const { id } = await board.task();
    for (const request of [{}, { taskId: id, externalKey: 'k' }]) {
      expect(await refused(board.viewer.tasks.getTask(request))).toMatchObject({
        code: 'InvalidArgument',
        field: 'task_id',
      });
    }
  });

  it('has a key that no other has', async () => {
    await board.member.tasks.createTask({ title: 'one', externalKey: 'taken' });
    expect(
      await refused(board.member.tasks.createTask({ title: 'two', externalKey: 'taken' })),
    ).toMatchObject({
      code: 'AlreadyExists',
      text: expect.stringContaining('"taken"'),
    });
    const both = await Promise.allSettled(
      ['a', 'b'].map((title) => board.member.tasks.createTask({ title, externalKey: 'raced' })),
    );
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('whose key was deleted goes on with its fencing token', async () => {
    const make = async () =>
      (await board.member.tasks.createTask({ title: 'phoenix', externalKey: 'phoenix' })).task;
    const first = await make();
    const proof = await hold(board.agent, first?.id ?? '');
    await board.agent.tasks.deleteTask({ taskId: first?.id ?? '', executionId: 'ada-run', proof });
    expect(await refused(board.viewer.tasks.getTask({ taskId: first?.id ?? '' }))).toMatchObject({
      code: 'NotFound',
    });
    const second = await make();
    expect([second?.id === first?.id, second?.fencingToken]).toEqual([false, 1n]);
    expect((await hold(board.agent, second?.id ?? '')).fencingToken).toBe(2n);
  });

  it('goes from open to done, reopened, dropped and reopened, and no other way', async () => {
    const { id: taskId } = await board.task();
    const { tasks } = board.member;
    expect(await refused(tasks.reopenTask({ taskId }))).toMatchObject({ code: 'FailedPrecondition' });
    expect(await refused(tasks.requeueTask({ taskId }))).toMatchObject({ code: 'FailedPrecondition' });
    const done = await tasks.completeTask({ taskId, result: 'merged' });
    expect(done.task).toMatchObject({ status: TaskStatus.DONE, result: 'merged', closedBy: 'mia' });
    for (const close of [() => tasks.completeTask({ taskId }), () => tasks.dropTask({ taskId })]) {
      expect(await refused(close())).toMatchObject({
        code: 'FailedPrecondition',
        text: expect.stringContaining('DONE'),
      });
    }
    const again = await tasks.reopenTask({ taskId, reason: 'not quite' });
    expect(again.task).toMatchObject({ status: TaskStatus.OPEN, result: '', closedBy: '' });
    expect(again.task?.closedAt).toBeUndefined();
    expect((await tasks.dropTask({ taskId, reason: 'no need' })).task?.status).toBe(TaskStatus.DROPPED);
    expect((await tasks.reopenTask({ taskId })).task?.status).toBe(TaskStatus.OPEN);
  });
});

describe('UpdateTask', () => {
  it('changes what is present, or else what the mask names', async () => {
    const { task } = await board.member.tasks.createTask({
      title: 'title',
      body: 'body',
      priority: 5,
      labels: ['x'],
      assignee: 'ada',
    });
    const taskId = task?.id ?? '';
    const update = async (change: Parameters<typeof board.member.tasks.updateTask>[0]) =>
      (await board.member.tasks.updateTask({ taskId, ...change })).task;
    expect(await update({ priority: 0 })).toMatchObject({ title: 'title', body: 'body', priority: 0 });
    expect(await update({ body: '' })).toMatchObject({ body: '', labels: ['x'], assignee: 'ada' });
    expect(await update({ assignee: '' })).toMatchObject({ assignee: '', labels: ['x'] });
    expect(
      await update({ title: 'unseen', body: 'seen', updateMask: { paths: ['body', 'labels'] } }),
    ).toMatchObject({ title: 'title', body: 'seen', labels: [] });
    const before = await update({});
    expect(await update({ updateMask: { paths: [] } })).toEqual(before);
  });

  it('refuses masks of other fields, an empty title, and nothing of an update that it refuses', async () => {
    const { id: taskId } = await board.task('kept');
    const refusals = [
      { field: 'update_mask', change: { body: 'x', updateMask: { paths: ['body', 'status'] } } },
      { field: 'update_mask', change: { updateMask: { paths: ['proof.lease_id'] } } },
      { field: 'title', change: { body: 'x', updateMask: { paths: ['title', 'body'] } } },
      { field: 'title', change: { body: 'x', title: '' } },
      { field: 'title', change: { body: 'x', title: ' \t' } },
      { field: 'labels[1]', change: { body: 'x', labels: ['a', ''] } },
      { field: 'title', change: { body: 'x', title: 'a\nb' } },
      { field: 'body', change: { title: 'x', body: 'nul \0' } },
      { field: 'title', change: { title: 'x'.repeat(501) } },
      { field: 'body', change: { body: 'é'.repeat(32_769) } },
    ];
    for (const { field, change } of refusals) {
      expect(await refused(board.member.tasks.updateTask({ taskId, ...change }))).toMatchObject({
        code: 'InvalidArgument',
        field,
      });
    }
    const { task } = await board.viewer.tasks.getTask({ taskId });
    expect(task).toMatchObject({ title: 'kept', body: '' });
    const longest = { title: '𝕏'.repeat(500), body: 'é'.repeat(32_768) };
    expect((await board.member.tasks.updateTask({ taskId, ...longest })).task).toMatchObject(longest);
  });

  it('with an etag loses no update of another', async () => {
    const { id: taskId, etag } = await board.task();
    const first = await board.member.tasks.updateTask({ taskId, title: 'first', etag });
    expect(first.task?.etag).not.toBe(etag);
    expect(await refused(board.admin.tasks.updateTask({ taskId, title: 'second', etag }))).toMatchObject({
      code: 'Aborted',
    });
    expect((await board.viewer.tasks.getTask({ taskId })).task?.title).toBe('first');
    const etags = Array.from({ length: 8 }, (_, n) =>
      board.member.tasks.updateTask({ taskId, title: `race ${n}`, etag: first.task?.etag ?? '' }),
    );
    const settled = await Promise.allSettled(etags);
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('says in the history what changed, once, and nothing when nothing did', async () => {
    const { id: taskId } = await board.task('before');
    await board.member.tasks.updateTask({ taskId, title: 'after', priority: 3 });
    await board.member.tasks.updateTask({ taskId, title: 'after', priority: 3 });
    const { events } = await board.viewer.history.listHistory({ taskId, kinds: [EventKind.TASK_UPDATED] });
    expect(events.map(({ actor, payload }) => [actor, payload.case, payload.value])).toEqual([
      [
        'mia',
        'taskUpdated',
        expect.objectContaining({
          changes: [
            expect.objectContaining({ field: 'title', before: 'before', after: 'after' }),
            expect.objectContaining({ field: 'priority', before: '0', after: '3' }),
          ],
        }),
      ],
    ]);
  });
});

describe('notes and plans', () => {
  it('tells the newest notes first, at most a hundred', async () => {
    const { id: taskId } = await board.task();
    for (let n = 1; n <= 103; n++) await board.member.tasks.addNote({ taskId, text: `note ${n}` });
    const { notes } = await board.viewer.tasks.getTask({ taskId });
    expect(notes.map(({ text }) => text)).toEqual(Array.from({ length: 100 }, (_, n) => `note ${103 - n}`));
    expect(notes[0]).toMatchObject({ author: 'mia', executionId: '' });
  });

  it('refuses a note that says nothing', async () => {
    const { id: taskId } = await board.task();
    for (const text of ['', ' \n\t ']) {
      expect(await refused(board.member.tasks.addNote({ taskId, text }))).toMatchObject({ field: 'text' });
    }
  });

  it('keeps the steps of a plan in the order in which they came, and counts what is done', async () => {
    const { plan } = await board.member.tasks.createPlan({ title: 'plan', body: 'why', externalKey: 'plan' });
    const planId = plan?.id ?? '';
    expect(plan).toMatchObject({ title: 'plan', body: 'why', stepsDone: 0, stepsTotal: 0, createdBy: 'mia' });
    const steps: string[] = [];
    for (let n = 0; n < 7; n++) {
      const { task } = await board.member.tasks.createTask({ title: `step ${n}`, planId, priority: -n });
      steps.push(task?.id ?? '');
    }
    await board.member.tasks.completeTask({ taskId: steps[0] ?? '' });
    await board.member.tasks.dropTask({ taskId: steps[1] ?? '', reason: 'no' });
    await board.member.tasks.deleteTask({ taskId: steps[2] ?? '' });
    steps.splice(2, 1);
    const seen: string[] = [];
    let pageToken = '';
    do {
      const page = await board.viewer.tasks.getPlan({ externalKey: 'plan', pageSize: 2, pageToken });
      expect(page.plan).toMatchObject({ id: planId, stepsDone: 1, stepsTotal: 5 });
      expect(page.steps.length).toBeLessThanOrEqual(2);
      seen.push(...page.steps.map(({ id }) => id));
      pageToken = page.nextPageToken;
    } while (pageToken);
    expect(seen).toEqual(steps);
  });

  it('gives parallel steps places of their own', async () => {
    const { plan } = await board.member.tasks.createPlan({ title: 'parallel' });
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        board.member.tasks.createTask({ title: `${n}`, planId: plan?.id ?? '' }),
      ),
    );
    const places = made.map(({ task }) => task?.planOrder ?? 0);
    expect(places.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
  });
});
