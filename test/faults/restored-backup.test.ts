import { WriteRejected } from '@holdfast/client';
import { LeaseState, WriteCode } from '@holdfast/proto/guard';
import { EventKind } from '@holdfast/proto/history';
import { expect, test } from 'vitest';
import { beginNewEpoch } from '../../src/store/new-epoch.js';
import { Agent, type Held, proofOf } from '../support/agent.js';
import { connect, copyTestDatabase } from '../support/postgres.js';
import { DEFAULT_SETTINGS, startTestService, type TestService } from '../support/service.js';
import { Watching } from '../watch/watching.js';

/** One life of the database: a server on it, and agents whose tokens are older than the backup. */
interface Life {
  readonly service: TestService;
  readonly ada: Agent;
  readonly rob: Agent;
}

type Secrets = { ada?: string; rob?: string };

async function live(secrets: Secrets, databaseUrl?: string): Promise<Life> {
  const service = await startTestService({
    settings: { enforcement: 'ENFORCE' },
    ...(databaseUrl !== undefined && { databaseUrl }),
  });
  secrets.ada ??= await service.token('AGENT', 'agent', 'ada');
  secrets.rob ??= await service.token('AGENT', 'agent', 'rob');
  return {
    service,
    ada: new Agent(service.client(secrets.ada, 'ada-run')),
    rob: new Agent(service.client(secrets.rob, 'rob-run')),
  };
}

async function create(agent: Agent, externalKey: string): Promise<string> {
  const { executionId } = agent;
  const { task } = await agent.holdfast.tasks.createTask({ title: externalKey, externalKey, executionId });
  return task?.id ?? '';
}

/** Grants and gives back, so often. */
async function work(agent: Agent, taskId: string, times: number): Promise<void> {
  for (let i = 0; i < times; i++) await agent.release(await agent.acquire(taskId));
}

/** Where a watcher resumes that has seen all there is. */
async function resumeTokenOf({ holdfast }: Agent): Promise<string> {
  const watching = await new Watching(holdfast).begun();
  await watching.stop();
  return watching.token;
}

const remove = ({ holdfast, executionId }: Agent, held: Held) =>
  holdfast.tasks.deleteTask({ taskId: held.taskId, executionId, proof: proofOf(held) });

/**
 * What a database has handed out, by what names it to others: a token by the task's external key or id, a position by
 * its project; and for what it was.
 */
async function handedOut(databaseUrl: string): Promise<Map<string, string>> {
  const sql = connect(databaseUrl, { max: 1 });
  const rows = await sql`
    SELECT 'token ' || e.project || ' ' || coalesce(c.payload->>'externalKey', e.task_id) || ' ' || e.fencing_token AS name,
      l.id AS of
    FROM event e
    JOIN lease l ON l.project = e.project AND l.task_id = e.task_id AND l.fencing_token = e.fencing_token
    JOIN event c ON c.project = e.project AND c.task_id = e.task_id AND c.kind = 1
    WHERE e.kind IN (15, 16)
    UNION ALL
    SELECT 'position ' || project || ' ' || position, concat_ws(' ', at, kind, task_id, actor, payload)
    FROM event WHERE position IS NOT NULL`;
  await sql.end();
  return new Map(rows.map((row) => [row.name, row.of]));
}

/** The highest of the names that begin so. */
const highest = (names: Iterable<string>, prefix: string) =>
  [...names]
    .filter((name) => name.startsWith(prefix))
    .map((name) => BigInt(name.slice(prefix.length)))
    .toSorted((a, b) => (a < b ? -1 : 1))
    .at(-1) ?? 0n;

const stale = async (write: Promise<unknown>) => {
  const error = await write.then(
    () => expect.fail('was done'),
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(WriteRejected);
  expect((error as WriteRejected).code).toBe('STALE_LOCK');
};

test('after restoring a backup and a new epoch, nothing that was lost is handed out again, and who holds it is told', {
  timeout: 120_000,
}, async () => {
  // Before the backup: two leases are live, and one key's task was deleted.
  const secrets: Secrets = {};
  const original = await live(secrets);
  const [kept, taken] = [await create(original.ada, 'kept'), await create(original.ada, 'taken')];
  await work(original.rob, kept, 2);
  const gone = await original.ada.acquire(await create(original.ada, 'gone'));
  await remove(original.ada, gone);
  const heldByAda = await original.ada.acquire(kept);
  const heldByRob = await original.rob.acquire(taken);
  const resumeTokens = [await resumeTokenOf(original.ada)];
  await original.service.stop();
  const backup = await copyTestDatabase(original.service.databaseUrl);

  // The future that gets lost: the counters go on, also of things that the backup has never heard of.
  const future = await live(secrets, original.service.databaseUrl);
  await future.ada.release(heldByAda);
  await work(future.ada, kept, 3);
  const lost = await future.rob.acquire(kept);
  await work(future.ada, await create(future.ada, 'gone'), 4);
  await work(future.ada, await create(future.ada, 'late'), 5);
  const owner = future.service.client(future.service.ownerToken);
  for (let i = 0; i < 3; i++) await owner.projects.createProject({ project: `late-${i}` });
  await owner.history.listHistory({});
  resumeTokens.push(await resumeTokenOf(future.ada));
  await future.service.stop();

  const all = await handedOut(original.service.databaseUrl);
  for (let restore = 1; restore <= 2; restore++) {
    const before = await handedOut(backup.url);
    const { url } = await copyTestDatabase(backup.url);
    const epoch = await beginNewEpoch(url, DEFAULT_SETTINGS);
    expect(epoch).toMatchObject({ revoked: 2, expired: 0, tasks: 2, projects: 1 });
    const { service, ada, rob } = await live(secrets, url);
    const people = service.client(service.ownerToken);

    for (const resumeAfter of resumeTokens) {
      const { code, gap } = await new Watching(people, { resumeAfter }).ended();
      expect([code, gap?.reason]).toEqual(['OutOfRange', 'RESET']);
    }
    const watching = await new Watching(people).begun();
    expect(watching.leases).toEqual([]);

    // Late writers, from before the backup and from the lost future; also before anybody took over.
    for (const [agent, proof] of [
      [ada, heldByAda],
      [rob, heldByRob],
      [rob, lost],
    ] as const) {
      await stale(agent.complete(proof));
      await stale(agent.note(proof, 'late'));
    }
    await stale(rob.renew(heldByRob));
    const { allowed, rejection } = await ada.holdfast.leases.checkLease({
      taskId: kept,
      executionId: 'ada-run',
      proof: proofOf(heldByAda),
    });
    expect([allowed, rejection?.code]).toEqual([false, WriteCode.STALE_LOCK]);
    const { lease } = await people.leases.getLease({ taskId: taken });
    expect(lease).toMatchObject({ state: LeaseState.REVOKED, endedBy: 'new-epoch' });

    // The same names again.
    const again = await rob.acquire(kept);
    expect(again.fencingToken).toBeGreaterThan(highest(all.keys(), 'token default kept '));
    await stale(ada.complete(heldByAda));
    await rob.complete(again);
    await work(ada, await create(ada, 'gone'), 4);
    await work(ada, await create(ada, 'late'), 5);
    const executionId = 'ada-run';
    await ada.holdfast.tasks.importTasks({
      tasks: [{ externalKey: 'brought', title: 'brought' }],
      executionId,
    });
    const { task: brought } = await ada.holdfast.tasks.getTask({ externalKey: 'brought' });
    await work(ada, brought?.id ?? '', 2);
    for (let i = 0; i < 3; i++) await people.projects.createProject({ project: `late-${i}` });

    const { events } = await people.history.listHistory({});
    const positions = events.map(({ position }) => position);
    expect(positions).toEqual(positions.toSorted((a, b) => (a < b ? -1 : 1)));
    const first = positions.findIndex((position) => position > epoch.countersFrom);
    expect(positions[first - 1]).toBe(BigInt(first));
    const rest = positions.slice(first);
    // Whoever watches from then on misses none.
    await watching.until(({ positions }) => positions.at(-1) === Number(rest.at(-1)));
    const seen = watching.positions.length;
    expect(watching.positions).toEqual(rest.slice(-seen).map(Number));
    expect(seen).toBeGreaterThan(20);
    await watching.stop();
    expect(rest).toEqual(rest.map((_, i) => epoch.countersFrom + BigInt(i) + 1n));
    expect(events.slice(first, first + 5).map(({ kind }) => EventKind[kind])).toEqual([
      'LEASE_REVOKED',
      'TASK_READY',
      'LEASE_REVOKED',
      'TASK_READY',
      'SETTINGS_CHANGED',
    ]);
    await people.history.listHistory({ project: 'late-0' });
    await service.stop();

    const now = await handedOut(url);
    let compared = 0;
    for (const [name, of] of now) {
      if (before.has(name)) expect([name, of]).toEqual([name, before.get(name)]);
      else {
        expect(all.has(name) && name).toBe(false);
        compared++;
      }
    }
    expect(compared).toBeGreaterThan(30);
    for (const [name, of] of now) all.set(name, of);
  }
});

test('without a new epoch, a restored backup would hand out again what was lost', async () => {
  const secrets: Secrets = {};
  const original = await live(secrets);
  const taskId = await create(original.ada, 'kept');
  await original.service.stop();
  const backup = await copyTestDatabase(original.service.databaseUrl);
  const future = await live(secrets, original.service.databaseUrl);
  const lost = await future.ada.acquire(taskId);
  await future.service.stop();
  const restored = await live(secrets, backup.url);
  const again = await restored.rob.acquire(taskId);
  expect([again.fencingToken, again.leaseId === lost.leaseId]).toEqual([lost.fencingToken, false]);
});
