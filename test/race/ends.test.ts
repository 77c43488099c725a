import { Code, ConnectError } from '@connectrpc/connect';
import { WriteRejected } from '@holdfast/client';
import { LeaseState } from '@holdfast/proto/guard';
import { RefusalReason } from '@holdfast/proto/lease';
import { TaskStatus } from '@holdfast/proto/task';
import type { Sql } from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Agent, type Held, proofOf } from '../support/agent.js';
import { brokenRules } from '../support/history-audit.js';
import { connect } from '../support/postgres.js';
import { startTestService, type TestService } from '../support/service.js';

const ROUNDS = process.env.HOLDFAST_TEST_LONG === '1' ? 300 : 12;

let one: TestService;
let two: TestService;
let person: Agent;
/** An agent's execution, over one replica and over the other. */
let agent: Agent;
let twin: Agent;
let sql: Sql;
let token: string;

beforeAll(async () => {
  one = await startTestService({ settings: { enforcement: 'ENFORCE' } });
  two = await startTestService({ settings: { enforcement: 'ENFORCE' }, databaseUrl: one.databaseUrl });
  token = await one.token('AGENT', 'agent', 'ada');
  person = new Agent(one.client(one.ownerToken));
  agent = new Agent(one.client(token, 'run'));
  twin = new Agent(two.client(token, 'run'));
  sql = connect(one.databaseUrl, { max: 1 });
});

afterAll(() => sql.end());

/** 'done', or what the refusal said: a verdict of the guard, or a status. */
const outcomeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'done',
    (error: unknown) => {
      if (error instanceof WriteRejected) return error.code;
      return Code[ConnectError.from(error).code] ?? String(error);
    },
  );

/** Plays a race again and again, each time on a task of its own, and checks the whole at the end. */
async function rounds(play: (taskId: string, round: number) => Promise<void>): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) await play(await person.createTask(), round);
  expect(await brokenRules(one.databaseUrl)).toEqual([]);
}

const stateOf = async ({ leaseId }: Held) => (await agent.holdfast.leases.getLease({ leaseId })).lease?.state;

test('a release beats a renewal in flight, whatever the order', () =>
  rounds(async (taskId) => {
    const held = await agent.acquire(taskId);
    const [renewal, release] = await Promise.all([outcomeOf(twin.renew(held)), agent.release(held)]);
    expect(renewal).toMatch(/done|LOCK_EXPIRED/);
    expect(release.lease?.state).toBe(LeaseState.RELEASED);
    expect(await outcomeOf(twin.renew(held))).toBe('LOCK_EXPIRED');
    expect(await stateOf(held)).toBe(LeaseState.RELEASED);
  }));

test('of a completion and a force-release at once, exactly one ends the lease', () =>
  rounds(async (taskId) => {
    const held = await agent.acquire(taskId);
    const admin = new Agent(person.holdfast);
    const [completion, force] = await Promise.all([
      outcomeOf(twin.complete(held)),
      outcomeOf(admin.holdfast.leases.forceReleaseLease({ taskId, reason: 'it hangs' })),
    ]);
    expect([
      ['done', 'FailedPrecondition'],
      ['STALE_LOCK', 'done'],
    ]).toContainEqual([completion, force]);
    const done = completion === 'done';
    expect(await stateOf(held)).toBe(done ? LeaseState.COMPLETED : LeaseState.REVOKED);
    const { task } = await person.holdfast.tasks.getTask({ taskId });
    expect(task?.status).toBe(done ? TaskStatus.DONE : TaskStatus.OPEN);
  }));

test('two completions with the same proof are one, and both are told its result', () =>
  rounds(async (taskId) => {
    const held = await agent.acquire(taskId);
    const answers = await Promise.all([
      agent.complete(held, { result: 'from one' }),
      twin.complete(held, { result: 'from the other' }),
    ]);
    const results = new Set(answers.map(({ task }) => task?.result));
    expect(results.size).toBe(1);
    expect(await sql`SELECT 1 FROM event WHERE task_id = ${taskId} AND kind = 4`).toHaveLength(1);
  }));

test('two people who complete a task at once: one does', () =>
  rounds(async (taskId) => {
    const other = two.client(one.ownerToken);
    const outcomes = await Promise.all([
      outcomeOf(person.holdfast.tasks.completeTask({ taskId, result: 'a' })),
      outcomeOf(other.tasks.completeTask({ taskId, result: 'b' })),
    ]);
    expect(outcomes.toSorted()).toEqual(['FailedPrecondition', 'done']);
  }));

test('a task that is deleted while it is acquired leaves no live lease', () =>
  rounds(async (taskId, round) => {
    const [deletion, acquired] = await Promise.all([
      outcomeOf(person.holdfast.tasks.deleteTask({ taskId })),
      outcomeOf(twin.acquire(taskId)),
    ]);
    expect([
      ['done', 'NotFound'],
      ['LOCKED_BY_OTHER', 'done'],
    ]).toContainEqual([deletion, acquired]);
    if (round % 2 === 0 && deletion !== 'done') {
      // Under somebody's live lease only an override deletes; it ends the lease.
      await person.holdfast.tasks.deleteTask({ taskId, overrideReason: 'not wanted' });
      const leases = await sql`SELECT "end" FROM lease WHERE task_id = ${taskId}`;
      expect(leases.map(({ end }) => end)).toEqual([5]);
    }
  }));

test('a task that is created anew under its external key while it is deleted never gives a token twice', async () => {
  const externalKey = 'plan.md#1';
  const creators = [person.holdfast, two.client(one.ownerToken)];
  const create = (creator: (typeof creators)[number]) =>
    creator.tasks
      .createTask({ title: 'again', externalKey })
      .then(({ task }) => task?.id ?? '')
      .catch((error: unknown) => {
        // In use still, or contended: never anything else.
        expect([Code.AlreadyExists, Code.Aborted]).toContain(ConnectError.from(error).code);
        return undefined;
      });
  let taskId = await create(person.holdfast);
  const tokens: bigint[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const held = await agent.acquire(taskId ?? '');
    tokens.push(held.fencingToken);
    const old = taskId ?? '';
    const proof = { executionId: agent.executionId, proof: proofOf(held) };
    const [, ...created] = await Promise.all([
      agent.holdfast.tasks.deleteTask({ taskId: old, ...proof }),
      ...creators.map(create),
    ]);
    const fresh = created.filter((id) => id !== undefined);
    expect(fresh.length).toBeLessThanOrEqual(1);
    taskId = fresh[0] ?? (await create(person.holdfast));
    expect(await outcomeOf(agent.note({ ...held, taskId: taskId ?? '' }, 'from before'))).not.toBe('done');
  }
  // Each deletion under a live lease leaves its token behind, so each new grant is the next one.
  expect(tokens).toEqual(tokens.map((_, i) => BigInt(i + 1)));
  expect(await brokenRules(one.databaseUrl)).toEqual([]);
});

test('ending an execution frees its 500 leases in one call', async () => {
  const many = new Agent(one.client(token, 'many'));
  const tasks = await Promise.all(Array.from({ length: 500 }, () => person.createTask()));
  const held = await Promise.all(tasks.map((taskId) => many.acquire(taskId)));
  const ended = await many.holdfast.leases.endExecution({ executionId: 'many' });
  expect(new Set(ended.released.map(({ id }) => id))).toEqual(new Set(held.map(({ leaseId }) => leaseId)));
  const events = await sql`
    SELECT count(*)::int AS events, count(DISTINCT at)::int AS instants FROM event
    WHERE kind = 17 AND execution_id = 'many' AND payload->>'cause' = 'EXECUTION_ENDED'`;
  expect(events[0]).toEqual({ events: 500, instants: 1 });
  const again = await many.holdfast.leases.endExecution({ executionId: 'many' });
  expect(again).toMatchObject({ alreadyEnded: true, released: [] });
  expect(await brokenRules(one.databaseUrl)).toEqual([]);
}, 60_000);

test('no lease of an ended execution survives the acquires that were in flight', async () => {
  const tasks = await Promise.all(Array.from({ length: 8 }, () => person.createTask()));
  for (let round = 0; round < ROUNDS; round++) {
    const executionId = `ending-${round}`;
    const [near, far] = [one.client(token, executionId), two.client(token, executionId)];
    const runs = [new Agent(near), new Agent(far)] as const;
    // Known before, in half of the rounds: its row is there to be locked.
    if (round % 2 === 0) await runs[0].release(await runs[0].acquire(tasks[0] ?? ''));
    const [, ...acquired] = await Promise.all([
      far.leases.endExecution({ executionId }),
      ...tasks.map((taskId, i) => runs[i % 2 === 0 ? 0 : 1].ask(taskId)),
    ]);
    for (const { case: kind, value } of acquired) {
      if (kind === 'refusal') expect(value.reason).toBe(RefusalReason.EXECUTION_ENDED);
    }
    const open = await sql`SELECT task_id FROM lease WHERE execution_id = ${executionId} AND "end" IS NULL`;
    expect(open).toEqual([]);
    const late = await runs[0].ask(tasks[0] ?? '');
    expect(late).toMatchObject({ case: 'refusal', value: { reason: RefusalReason.EXECUTION_ENDED } });
    near.close();
    far.close();
  }
  expect(await brokenRules(one.databaseUrl)).toEqual([]);
});
