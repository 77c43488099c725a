import { Enforcement, WriteCode } from '@holdfast/proto/guard';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DAY, HOUR, MINUTE, type Micros, SECOND } from '../../src/domain/instant.js';
import { timestamp } from '../../src/rpc/encode/time.js';
import { type MovableClock, stopClock } from '../support/clock.js';
import { connect } from '../support/postgres.js';
import { type Board, hold, type Person, startBoard } from './board.js';

const START = Date.UTC(2026, 2, 1, 23, 0, 0);

let board: Board;
let clock: MovableClock;
beforeAll(async () => {
  board = await startBoard();
  clock = await stopClock(board.service.databaseUrl, START * 1_000);
});
afterAll(() => clock?.close());

let projects = 0;

/** Two agents and a person in a project of its own, with a task. */
async function team(enforcement: Enforcement) {
  const project = `project-${++projects}`;
  await board.owner.projects.createProject({ project, settings: { enforcement } });
  const join = async (kind: 'AGENT' | 'PERSON', role: 'agent' | 'viewer', name: string): Promise<Person> => {
    const token = await board.service.token(kind, role, name, project);
    return { ...board.service.client(token, `${name}-run`), token };
  };
  const [ada, rob, vic] = await Promise.all([
    join('AGENT', 'agent', 'ada'),
    join('AGENT', 'agent', 'rob'),
    join('PERSON', 'viewer', 'vic'),
  ]);
  const { task } = await ada.tasks.createTask({ title: 'a task', executionId: 'ada-run' });
  return { project, ada, rob, vic, taskId: task?.id ?? '' };
}

const note = ({ tasks, executionId }: Person, taskId: string) =>
  tasks.addNote({ taskId, text: 'without a proof', executionId });
const update = ({ tasks, executionId }: Person, taskId: string) =>
  tasks.updateTask({ taskId, body: `${Math.random()}`, executionId });

const report = async ({ history }: Person, since?: Micros) => {
  const { counts, readyToEnforce, summary } = await history.getEnforcementReport(
    since === undefined ? {} : { since: timestamp(since) },
  );
  const lines = counts.map(({ day, principal, code, rpc, writes }) => [
    day,
    principal,
    WriteCode[code],
    rpc,
    Number(writes),
  ]);
  return { lines, readyToEnforce, summary };
};

describe('GetEnforcementReport', () => {
  it('counts by principal, code, RPC and day in UTC, repeats included, and tells what to do', async () => {
    const { ada, rob, vic, taskId } = await team(Enforcement.WARN);
    for (let i = 0; i < 3; i++) await note(ada, taskId);
    await update(ada, taskId);
    await clock.advance(MINUTE);
    await note(ada, taskId);
    await hold(ada, taskId, 7200);
    await note(rob, taskId);
    await clock.advance(HOUR);
    for (let i = 0; i < 2; i++) await note(rob, taskId);

    const told = await report(vic);
    expect(told.lines).toEqual([
      ['2026-03-02', 'rob', 'LOCKED_BY_OTHER', 'AddNote', 2],
      ['2026-03-01', 'ada', 'LOCK_REQUIRED', 'AddNote', 4],
      ['2026-03-01', 'ada', 'LOCK_REQUIRED', 'UpdateTask', 1],
      ['2026-03-01', 'rob', 'LOCKED_BY_OTHER', 'AddNote', 1],
    ]);
    expect(told.readyToEnforce).toBe(false);
    expect(told.summary).toMatch(
      /would have refused 8 writes by 2 principals, mostly AddNote of ada with LOCK_REQUIRED \(4\); have ada acquire/,
    );
    expect(await report(ada)).toEqual(told);
  });

  it('begins where it is told to, to the microsecond, or a week ago', async () => {
    const { ada, vic, taskId } = await team(Enforcement.WARN);
    await note(ada, taskId);
    const at = await clock.now();
    expect((await report(vic, at)).lines).toHaveLength(1);
    await clock.advance(SECOND);
    const after = await report(vic, at + 1);
    expect([after.lines, after.readyToEnforce]).toEqual([[], true]);
    expect((await report(vic, -62_135_596_800 * SECOND)).lines).toHaveLength(1);

    await clock.advance(7 * DAY - SECOND);
    expect(await report(vic)).toMatchObject({ readyToEnforce: false });
    await clock.advance(1);
    expect(await report(vic)).toMatchObject({
      lines: [],
      readyToEnforce: true,
      summary: expect.stringMatching(/^Ready to enforce: since /),
    });
  });

  it('says nothing of a time that is to come', async () => {
    const now = await clock.now();
    const since = new Date((now + SECOND) / 1_000).toISOString();
    expect(
      await board.any.call('HistoryService/GetEnforcementReport', { since }, board.viewer.token),
    ).toMatchObject({ code: 'InvalidArgument', message: 'since must not be in the future' });
    expect(await report(board.viewer, now)).toMatchObject({ readyToEnforce: true });
  });

  it('tells nothing of other projects', async () => {
    const [noisy, quiet] = [await team(Enforcement.WARN), await team(Enforcement.WARN)];
    await note(noisy.ada, noisy.taskId);
    expect(await report(quiet.vic)).toMatchObject({ lines: [], readyToEnforce: true });
    const named = await board.owner.history.getEnforcementReport({ project: noisy.project });
    expect(named.counts).toHaveLength(1);
  });

  it('is never ready while the guard is OFF, which counts nothing', async () => {
    const { ada, vic, taskId } = await team(Enforcement.OFF);
    await note(ada, taskId);
    expect(await report(vic)).toEqual({
      lines: [],
      readyToEnforce: false,
      summary: expect.stringMatching(/the guard is OFF/),
    });
  });

  it('tells in ENFORCE what was refused, in words, and counts only what was done', async () => {
    const { project, ada, vic, taskId } = await team(Enforcement.WARN);
    await note(ada, taskId);
    await board.owner.projects.updateProject({ project, settings: { enforcement: Enforcement.ENFORCE } });
    for (let i = 0; i < 2; i++) await expect(update(ada, taskId)).rejects.toThrow('LOCK_REQUIRED');
    const told = await report(vic);
    expect(told.lines).toEqual([[expect.any(String), 'ada', 'LOCK_REQUIRED', 'AddNote', 1]]);
    expect(told.readyToEnforce).toBe(true);
    expect(told.summary).toMatch(
      /^ENFORCE is on: it refused 2 writes by 1 principal since .*, all UpdateTask of ada with LOCK_REQUIRED\.$/,
    );
  });

  it('does not read the whole history for it', async () => {
    const sql = connect(board.service.databaseUrl, { max: 1 });
    await sql`
      INSERT INTO event (project, position, kind, at, actor, payload)
      SELECT 'long', n, CASE WHEN n % 200 = 0 THEN 21 ELSE 10 END, n, 'ada', '{}' FROM generate_series(1, 20000) n`;
    await sql`ANALYZE event`;
    const plan = await sql`
      EXPLAIN SELECT sum(1 + repeats) FROM event e
      WHERE e.project = 'long' AND e.kind IN (21, 22) AND e.at >= 10000`;
    await sql.end();
    expect(JSON.stringify(plan)).toContain('event_guarded');
  });
});
