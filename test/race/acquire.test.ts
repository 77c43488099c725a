import { PrincipalKind } from '@holdfast/proto/history';
import { RefusalReason } from '@holdfast/proto/lease';
import { Role } from '@holdfast/proto/project';
import { beforeAll, expect, test } from 'vitest';
import { Agent } from '../support/agent.js';
import { brokenRules } from '../support/history-audit.js';
import { connect, createTestDatabase } from '../support/postgres.js';
import { newServerFolder, ServerProcess } from '../support/server-process.js';
import { type Caller, Racers } from './racers.js';

const long = process.env.HOLDFAST_TEST_LONG === '1';
const PROCESSES = 2;
const RACERS = 50;

let databaseUrl: string;
let person: Agent;
let processes: Racers[];
let callers: Caller[];

beforeAll(async () => {
  databaseUrl = (await createTestDatabase()).url;
  const dataDir = newServerFolder();
  const server = await ServerProcess.start({ dataDir, databaseUrl });
  const other = await ServerProcess.start({ dataDir, databaseUrl });
  person = new Agent(server.client(server.ownerToken));
  // Forgetting to release is part of the loop below: that must not quarantine the tasks.
  await person.holdfast.projects.updateProject({ project: 'default', settings: { maxExpiries: 0 } });
  const { token } = await person.holdfast.projects.createToken({
    principal: 'racer',
    kind: PrincipalKind.AGENT,
    role: Role.AGENT,
  });
  callers = Array.from({ length: RACERS }, (_, i) => ({
    url: [server, other][i % 2]?.url ?? '',
    token,
    executionId: `run-${i}`,
  }));
  const share = RACERS / PROCESSES;
  processes = await Promise.all(
    Array.from({ length: PROCESSES }, (_, i) => Racers.connect(callers.slice(i * share, (i + 1) * share))),
  );
});

test('of 50 who reach for one task at once, over two servers, exactly one gets it', async () => {
  for (let round = 0; round < (long ? 50 : 5); round++) {
    const taskId = await person.createTask();
    const outcomes = (await Promise.all(processes.map((racers) => racers.race(taskId)))).flat();
    const winner = outcomes.findIndex(({ lease }) => lease);
    expect(outcomes[winner]).toMatchObject({ renewed: false, lease: { fencingToken: '1' } });
    const losers = outcomes.filter((_, i) => i !== winner);
    expect(losers).toHaveLength(RACERS - 1);
    for (const { lease, reason, holder } of losers) {
      expect({ lease, reason, holder }).toEqual({
        lease: undefined,
        reason: RefusalReason.HELD,
        holder: callers[winner]?.executionId,
      });
    }
  }
});

test('through many grants, releases and expiries, tokens rise and no two hold a task at once', async () => {
  const taskIds = await Promise.all(Array.from({ length: 6 }, () => person.createTask()));
  const ms = long ? 60_000 : 5_000;
  const outcomes = await Promise.all(processes.map((racers) => racers.loop(taskIds, ms)));
  const grants = outcomes.flatMap((outcome) => outcome.grants);
  expect(outcomes.flatMap(({ errors }) => errors)).toEqual([]);

  const tokens = new Set(grants.map(({ taskId, fencingToken }) => `${taskId} ${fencingToken}`));
  expect(tokens.size).toBe(grants.length);
  const sql = connect(databaseUrl, { max: 1 });
  const leases = await sql`SELECT id FROM lease WHERE task_id = ANY(${taskIds})`;
  const ends = await sql`SELECT "end" FROM lease WHERE task_id = ANY(${taskIds}) GROUP BY "end"`;
  await sql.end();
  expect(new Set(leases.map(({ id }) => id))).toEqual(new Set(grants.map(({ leaseId }) => leaseId)));
  // Otherwise this was no race between releases and expiries.
  expect(ends.map(({ end }) => end)).toEqual(expect.arrayContaining([2, 4]));
  expect(await brokenRules(databaseUrl)).toEqual([]);
}, 120_000);

test('a killed client process loses its leases at their deadlines, each by one expiry', async () => {
  const taskIds = await Promise.all(Array.from({ length: 20 }, () => person.createTask()));
  const holders = await Racers.connect(callers.slice(0, taskIds.length));
  await holders.hold(taskIds, 1_500);
  await holders.kill();
  const sql = connect(databaseUrl, { max: 1 });
  const late = async () => {
    const rows = await sql`
      SELECT (e.at - l.expires_at) / 1000 AS ms FROM lease l JOIN event e USING (project, task_id, fencing_token)
      WHERE l.task_id = ANY(${taskIds}) AND e.kind = 18`;
    return rows.map(({ ms }) => Number(ms));
  };
  await expect.poll(async () => (await late()).length, { timeout: 10_000 }).toBe(taskIds.length);
  for (const ms of await late()) {
    expect(ms).toBeGreaterThanOrEqual(0);
    expect(ms).toBeLessThan(10_000);
  }
  await sql.end();
  expect(await brokenRules(databaseUrl)).toEqual([]);
});
