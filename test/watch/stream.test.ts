import { LeaseState } from '@holdfast/proto/guard';
import { EventKind } from '@holdfast/proto/history';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Board, hold, startBoard } from '../rpc/board.js';
import { connect } from '../support/postgres.js';
import { startTestService } from '../support/service.js';
import { Watching } from './watching.js';

let board: Board;
beforeAll(async () => {
  board = await startBoard({ watch: { checkpointMs: 300 } });
});

const cases = ({ messages }: Watching) => messages.map((message) => message.case);
const rising = (positions: readonly number[]) => positions.map((_, i) => (positions[0] ?? 0) + i);

describe('a new watch', () => {
  it('begins with the live leases, then tells all that happens', async () => {
    const { id: taskId } = await board.task('held before');
    const proof = await hold(board.agent, taskId);
    const watching = await new Watching(board.viewer).begun();
    expect(cases(watching)).toEqual(['snapshot', 'synced']);
    const lease = watching.leases.find((lease) => lease.taskId === taskId);
    expect(lease).toMatchObject({
      id: '',
      fencingToken: 1n,
      holder: { principal: 'ada', executionId: 'ada-run' },
      state: LeaseState.ACTIVE,
    });
    expect(Number(lease?.remaining?.seconds)).toBeGreaterThan(50);
    await board.agent.leases.releaseLease(proof);
    await watching.until(({ kinds }) => kinds.includes('LEASE_RELEASED'));
    const told = watching.events.find((event) => event.kind === EventKind.LEASE_RELEASED);
    expect(told).toMatchObject({ taskId, payload: { case: 'leaseEnded' } });
    expect(watching.positions).toEqual(rising(watching.positions));
    await watching.stop();
  });

  it('tells nothing of what was written before it, also when that has no position yet', async () => {
    const own = await startBoard();
    const sql = connect(own.service.databaseUrl, { max: 1 });
    // As another replica leaves it that dies between its commit and numbering it.
    await sql`
      INSERT INTO event (project, kind, at, payload)
      SELECT 'default', 26, holdfast_now(), '{"title": "before", "changes": []}' FROM generate_series(1, 5000)`;
    await sql.end();
    const watching = await new Watching(own.viewer).begun();
    await own.task('after');
    await watching.until(({ kinds }) => kinds.includes('TASK_READY'));
    expect(watching.kinds).toEqual(['TASK_CREATED', 'TASK_READY']);
    await watching.stop();
  });

  it('says at once that it is there, when no lease is', async () => {
    const quiet = await startBoard();
    const watching = await new Watching(quiet.viewer).begun();
    expect(cases(watching)).toEqual(['synced']);
    await watching.stop();
  });

  it('sends many leases in several messages', async () => {
    const many = await startBoard();
    const ids = await Promise.all(Array.from({ length: 260 }, async () => (await many.task()).id));
    await Promise.all(ids.map((id) => hold(many.agent, id)));
    const watching = await new Watching(many.viewer).begun();
    expect(cases(watching)).toEqual(['snapshot', 'snapshot', 'synced']);
    expect(watching.leases.map(({ taskId }) => taskId)).toEqual(ids.toSorted());
    await watching.stop();
  });

  it('tells the history that ListHistory lists, event for event', async () => {
    const own = await startBoard();
    const watching = await new Watching(own.viewer).begun();
    const { id: taskId } = await own.task('whole life');
    const proof = await hold(own.agent, taskId);
    const by = { taskId, executionId: 'ada-run', proof };
    await own.agent.tasks.addNote({ ...by, text: 'half' });
    await own.agent.tasks.completeTask({ ...by, result: 'merged' });
    await watching.until(({ kinds }) => kinds.includes('LEASE_RELEASED'));
    const { events } = await own.viewer.history.listHistory({ pageSize: 1_000 });
    const from = events.findIndex(({ position }) => position === watching.events[0]?.position);
    expect(watching.events).toEqual(events.slice(from));
    expect(watching.kinds.slice(-5)).toEqual([
      'TASK_READY',
      'LEASE_ACQUIRED',
      'NOTE_ADDED',
      'TASK_COMPLETED',
      'LEASE_RELEASED',
    ]);
    await watching.stop();
  });

  it('tells who took a lease over from whom, and that the task was ready in between', async () => {
    const { id: taskId } = await board.task('taken over');
    const watching = await new Watching(board.viewer, { taskIds: [taskId] }).begun();
    await hold(board.agent, taskId, 1);
    await watching.until(({ kinds }) => kinds.includes('LEASE_EXPIRED'));
    await hold(board.rival, taskId);
    await watching.until(({ kinds }) => kinds.includes('LEASE_TAKEN_OVER'));
    expect(watching.kinds).toEqual(['LEASE_ACQUIRED', 'LEASE_EXPIRED', 'TASK_READY', 'LEASE_TAKEN_OVER']);
    expect(watching.events.at(-1)).toMatchObject({
      actor: 'rob',
      fencingToken: 2n,
      payload: {
        case: 'leaseGranted',
        value: {
          holder: { principal: 'rob', executionId: 'rob-run' },
          previousHolder: { principal: 'ada', executionId: 'ada-run' },
          previousEnd: LeaseState.EXPIRED,
          previousFencingToken: 1n,
        },
      },
    });
    await watching.stop();
  });

  it('tells that a task became ready when the last one it waited for was finished', async () => {
    const { id: blocker } = await board.task('first');
    const { task } = await board.member.tasks.createTask({ title: 'second', blockedBy: [blocker] });
    const taskId = task?.id ?? '';
    const watching = await new Watching(board.viewer, { taskIds: [taskId] }).begun();
    await board.member.tasks.completeTask({ taskId: blocker });
    await watching.until(({ kinds }) => kinds.includes('TASK_READY'));
    await watching.stop();
  });
});

describe('a resumed watch', () => {
  it('tells exactly what came after its token, without a snapshot, on another replica too', async () => {
    const other = await startTestService({ databaseUrl: board.service.databaseUrl });
    const first = await new Watching(board.viewer).begun();
    const { id: taskId } = await board.task('before');
    await first.until(({ kinds }) => kinds.includes('TASK_CREATED'));
    await first.stop();
    await hold(board.agent, taskId);
    await board.task('meanwhile');
    for (const client of [board.viewer, other.client(board.viewer.token)]) {
      const resumed = await new Watching(client, { resumeAfter: first.token }).begun();
      expect(cases(resumed)[0]).toBe('checkpoint');
      await resumed.until(({ kinds }) => kinds.filter((kind) => kind === 'TASK_CREATED').length === 1);
      expect([...first.positions, ...resumed.positions]).toEqual(
        rising([...first.positions, ...resumed.positions]),
      );
      expect(resumed.leases).toEqual([]);
      await resumed.stop();
    }
  });

  it('goes on behind what its filter hid', async () => {
    const watching = await new Watching(board.viewer, { kinds: [EventKind.SETTINGS_CHANGED] }).begun();
    const before = watching.token;
    const { id } = await board.task('hidden');
    await watching.until(({ token }) => token !== before);
    expect(watching.events).toEqual([]);
    expect(cases(watching).at(-1)).toBe('checkpoint');
    await watching.stop();
    const resumed = await new Watching(board.viewer, { resumeAfter: watching.token, taskIds: [id] }).begun();
    await board.member.tasks.addNote({ taskId: id, text: 'after' });
    await resumed.until(({ kinds }) => kinds.length > 0);
    // What the token covers is either hidden by it or told after it, never both, never neither.
    expect(resumed.kinds.at(-1)).toBe('NOTE_ADDED');
    await resumed.stop();
  });

  it('gets signs of life', async () => {
    const watching = await new Watching(board.viewer).begun();
    await watching.until(
      ({ messages }) => messages.filter(({ case: kind }) => kind === 'checkpoint').length >= 3,
    );
    await watching.stop();
  });

  it('is refused a token that no server gave', async () => {
    const { token } = await new Watching(board.viewer).begun();
    const bytes = Buffer.from(token, 'base64url');
    const flipped = Array.from({ length: bytes.length }, (_, i) => {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(i) ^ 1, i);
      return changed.toString('base64url');
    });
    const garbage = [
      'x',
      'not base64!',
      `${token}A`,
      `${token}=`,
      token.slice(0, -1),
      '0'.repeat(4096),
      '\u{1F512}',
    ];
    for (const resumeAfter of [...flipped, ...garbage]) {
      const { code, text } = await new Watching(board.viewer, { resumeAfter }).ended();
      expect([resumeAfter, code]).toEqual([resumeAfter, 'InvalidArgument']);
      expect(text).toMatch(/^resume_after /);
    }
  });

  it('is refused the token of another project', async () => {
    await board.owner.projects.createProject({ project: 'elsewhere' });
    const { token } = await new Watching(board.owner, { project: 'elsewhere' }).begun();
    const { code, text } = await new Watching(board.viewer, { resumeAfter: token }).ended();
    expect([code, text]).toEqual(['InvalidArgument', 'resume_after is the resume_token of another project']);
  });
});
