import { EventKind } from '@holdfast/proto/history';
import { beforeAll, describe, expect, it } from 'vitest';
import { placeIn } from '../../src/rpc/resume-token.js';
import { type Board, hold, startBoard } from '../rpc/board.js';
import { Watching, type WatchRequest } from './watching.js';

let board: Board;
beforeAll(async () => {
  board = await startBoard({ watch: { checkpointMs: 50 } });
});

/** What a filter lets through of what `happens`. */
async function told(request: WatchRequest, happens: () => Promise<unknown>): Promise<Watching> {
  const all = await new Watching(board.viewer).begun();
  const watching = await new Watching(board.viewer, request).begun();
  await happens();
  const { task } = await board.admin.tasks.createTask({ title: 'the end' });
  await all.until(({ events }) => events.some(({ taskId }) => taskId === task?.id));
  const last = placeIn(all.token, 'default').position;
  await watching.until(({ token }) => placeIn(token, 'default').position >= last);
  await Promise.all([all.stop(), watching.stop()]);
  return watching;
}

const stepOf = async (planId: string) => {
  const { task } = await board.member.tasks.createTask({ title: 'a step', planId });
  return task?.id ?? '';
};

describe('a filter', () => {
  it('on tasks lets through what is about them', async () => {
    const [one, other] = [await board.task(), await board.task()];
    const { kinds, events } = await told({ taskIds: [one.id] }, async () => {
      for (const { id } of [other, one]) await board.member.tasks.addNote({ taskId: id, text: 'n' });
      await board.member.projects.whoAmI({});
      await board.admin.projects.updateProject({ title: 'renamed' });
      await board.member.tasks.deleteTask({ taskId: one.id });
    });
    expect(kinds).toEqual(['NOTE_ADDED', 'TASK_DELETED']);
    expect(new Set(events.map(({ taskId }) => taskId))).toEqual(new Set([one.id]));
  });

  it('on a plan lets through its steps, also new and deleted ones, and the plan itself', async () => {
    const { plan } = await board.member.tasks.createPlan({ title: 'watched' });
    const { plan: another } = await board.member.tasks.createPlan({ title: 'another' });
    const planId = plan?.id ?? '';
    const step = await stepOf(planId);
    const { kinds, events } = await told({ planId }, async () => {
      await stepOf(another?.id ?? '');
      const fresh = await stepOf(planId);
      await board.member.tasks.addNote({ taskId: step, text: 'n' });
      await board.member.tasks.updatePlan({ planId, title: 'renamed' });
      await board.member.tasks.updatePlan({ planId: another?.id ?? '', title: 'renamed, too' });
      // The note is read after its task is gone.
      await Promise.all([fresh, step].map((taskId) => board.member.tasks.deleteTask({ taskId })));
    });
    expect(kinds.toSorted()).toEqual([
      'NOTE_ADDED',
      'PLAN_UPDATED',
      'TASK_CREATED',
      'TASK_DELETED',
      'TASK_DELETED',
      'TASK_READY',
    ]);
    expect(events.find(({ kind }) => kind === EventKind.PLAN_UPDATED)?.payload.value).toMatchObject({
      planId,
    });
  });

  it('on a plan lets through the life of a step that is gone', async () => {
    const { plan } = await board.member.tasks.createPlan({ title: 'of a deleted step' });
    const planId = plan?.id ?? '';
    const before = await new Watching(board.viewer).begun();
    await before.stop();
    const step = await stepOf(planId);
    await board.member.tasks.deleteTask({ taskId: step });
    const later = await new Watching(board.viewer, { planId, resumeAfter: before.token }).begun();
    await later.until(({ kinds }) => kinds.includes('TASK_DELETED'));
    expect(later.kinds).toEqual(['TASK_CREATED', 'TASK_READY', 'TASK_DELETED']);
    await later.stop();
  });

  it('on kinds lets through those kinds', async () => {
    const { id: taskId } = await board.task();
    const { kinds } = await told({ kinds: [EventKind.NOTE_ADDED, EventKind.TASK_COMPLETED] }, async () => {
      await board.member.tasks.addNote({ taskId, text: 'n' });
      await board.member.tasks.completeTask({ taskId });
    });
    expect(kinds).toEqual(['NOTE_ADDED', 'TASK_COMPLETED']);
  });

  it('on a kind that nothing tells yet lets nothing through', async () => {
    const { kinds } = await told({ kinds: [EventKind.WEBHOOK_FAILED] }, () => board.task());
    expect(kinds).toEqual([]);
  });

  it('on a principal lets through what it does, what it holds and how it lost that', async () => {
    const [forced, expired, idle] = [await board.task(), await board.task(), await board.task()];
    const { kinds, events } = await told({ principal: 'ADA' }, async () => {
      await hold(board.agent, forced.id);
      await hold(board.rival, idle.id);
      await board.member.tasks.addNote({ taskId: forced.id, text: 'by another' });
      await board.admin.leases.forceReleaseLease({ taskId: forced.id, reason: 'stuck' });
      await hold(board.agent, expired.id, 1);
      await expect
        .poll(async () => (await board.viewer.leases.getLease({ taskId: expired.id })).lease?.endedAt, {
          timeout: 5_000,
        })
        .toBeDefined();
      await hold(board.rival, expired.id);
    });
    expect(kinds).toEqual([
      'LEASE_ACQUIRED',
      // Done on a task that she held, and warned of because she did.
      'WRITE_WARNED',
      'LEASE_REVOKED',
      'LEASE_ACQUIRED',
      'LEASE_EXPIRED',
      'LEASE_TAKEN_OVER',
    ]);
    expect(events.filter(({ actor }) => actor === 'ada')).toHaveLength(2);
  });

  it('on an execution lets through that one and no other of its principal', async () => {
    const [one, other] = [await board.task(), await board.task()];
    const executionId = 'its own run';
    const { events } = await told({ principal: 'ada', executionId }, async () => {
      await board.agent.leases.acquireLease({ taskId: one.id, executionId });
      await board.agent.leases.acquireLease({ taskId: other.id, executionId: 'a run beside it' });
      await board.agent.leases.endExecution({ executionId });
    });
    expect(events.map(({ kind, executionId: by }) => [EventKind[kind], by])).toEqual([
      ['LEASE_ACQUIRED', executionId],
      ['EXECUTION_ENDED', executionId],
      ['LEASE_RELEASED', executionId],
    ]);
  });

  it('holds together with the others', async () => {
    const [one, other] = [await board.task(), await board.task()];
    const request = { taskIds: [one.id], kinds: [EventKind.NOTE_ADDED], principal: 'mia' };
    const { events } = await told(request, async () => {
      for (const { id: taskId } of [one, other]) {
        await board.member.tasks.addNote({ taskId, text: 'hers' });
        await board.admin.tasks.addNote({ taskId, text: 'not hers' });
        await board.member.tasks.updateTask({ taskId, title: 'no note' });
      }
    });
    expect(events.map(({ taskId, actor }) => [taskId, actor])).toEqual([[one.id, 'mia']]);
  });

  it('also holds for the leases at the start', async () => {
    const { plan } = await board.member.tasks.createPlan({ title: 'leased' });
    const planId = plan?.id ?? '';
    const [step, single] = [await stepOf(planId), (await board.task()).id];
    await hold(board.agent, step);
    await hold(board.rival, single);
    const shown = async (request: WatchRequest) => {
      const watching = await new Watching(board.viewer, request).begun();
      await watching.stop();
      return watching.leases.map(({ taskId }) => taskId).filter((id) => [step, single].includes(id));
    };
    expect(await shown({})).toEqual([step, single]);
    expect(await shown({ planId })).toEqual([step]);
    expect(await shown({ taskIds: [single] })).toEqual([single]);
    expect(await shown({ principal: 'Rob' })).toEqual([single]);
    expect(await shown({ principal: 'rob', executionId: 'ada-run' })).toEqual([]);
    expect(await shown({ executionId: 'ada-run' })).toEqual([step]);
    expect(await shown({ kinds: [EventKind.TASK_READY] })).toEqual([step, single]);
  });
});

describe('what cannot be watched', () => {
  const refusedWith = async (request: WatchRequest) => {
    const { code, text } = await new Watching(board.viewer, request).ended();
    return [code, text];
  };

  it('is a plan or a task that is not there, in this project', async () => {
    await board.owner.projects.createProject({ project: 'abroad' });
    const { task } = await board.owner.tasks.createTask({ project: 'abroad', title: 'theirs' });
    const { plan } = await board.owner.tasks.createPlan({ project: 'abroad', title: 'theirs' });
    const { id } = await board.task();
    for (const planId of ['never-was', plan?.id ?? '']) {
      expect(await refusedWith({ planId })).toEqual([
        'NotFound',
        `There is no plan ${JSON.stringify(planId)} in this project.`,
      ]);
    }
    for (const unknown of ['never-was', task?.id ?? '']) {
      expect(await refusedWith({ taskIds: [id, unknown] })).toEqual([
        'NotFound',
        `There is no task ${JSON.stringify(unknown)} in this project.`,
      ]);
    }
    const { token } = await new Watching(board.viewer).begun();
    const resumed = await new Watching(board.viewer, { resumeAfter: token, taskIds: ['gone since'] }).begun();
    await resumed.stop();
  });

  it('is told with the name of the field', async () => {
    const long = 'x'.repeat(257);
    const wrong: [WatchRequest, string][] = [
      [{ kinds: [EventKind.NOTE_ADDED, EventKind.UNSPECIFIED] }, 'kinds[1]'],
      [{ kinds: [999 as EventKind] }, 'kinds[0]'],
      [{ taskIds: ['fits', ''] }, 'task_ids[1]'],
      [{ taskIds: Array.from({ length: 1_001 }, (_, i) => `${i}`) }, 'task_ids'],
      [{ planId: long }, 'plan_id'],
      [{ principal: long }, 'principal'],
      [{ executionId: 'two\nlines' }, 'execution_id'],
      [{ resumeAfter: 'x'.repeat(4_097) }, 'resume_after'],
    ];
    for (const [request, field] of wrong) {
      const [code, text] = await refusedWith(request);
      expect([code, text?.split(' ')[0]]).toEqual(['InvalidArgument', field]);
    }
  });
});
