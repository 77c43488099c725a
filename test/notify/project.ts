import type { Sql } from 'postgres';
import { afterAll } from 'vitest';
import { SECOND } from '../../src/domain/instant.js';
import { Agent } from '../support/agent.js';
import { type MovableClock, stopClock } from '../support/clock.js';
import { connect, createTestDatabase } from '../support/postgres.js';
import { startTestService, type TestService, type TestServiceOptions } from '../support/service.js';

/** A service whose clock stands still unless moved, so that a day passes at once. */
export interface Project {
  readonly service: TestService;
  readonly databaseUrl: string;
  readonly sql: Sql;
  readonly clock: MovableClock;
  /** The owner: holds leases here, and has webhooks. */
  readonly owner: Agent;
  /** Another replica on the same database. */
  replica(): Promise<TestService>;
  /** Takes a lease on each task and lets it expire; the expiries are recorded when it resolves. */
  expire(...taskIds: string[]): Promise<void>;
  tasks(count: number): Promise<string[]>;
}

/** Quarantines nothing and caps no age, so that one execution can let a task expire as often as a test wants. */
export async function startProject(options: TestServiceOptions = {}): Promise<Project> {
  const databaseUrl = (await createTestDatabase()).url;
  const clock = await stopClock(databaseUrl);
  const sql = connect(databaseUrl, { max: 2 });
  afterAll(() => Promise.all([sql.end(), clock.close()]));
  const start = () => startTestService({ databaseUrl, settings: { maxExpiries: 0, maxAge: 0 }, ...options });
  const service = await start();
  const owner = new Agent(service.client(service.ownerToken, 'run'));
  return {
    service,
    databaseUrl,
    sql,
    clock,
    owner,
    replica: start,
    async expire(...taskIds) {
      const held = await Promise.all(taskIds.map((taskId) => owner.acquire(taskId, { ttlMs: 1_000 })));
      await clock.advance(2 * SECOND);
      // A renewal that comes too late records the expiry, as whoever locks the row first does.
      await Promise.all(held.map((lease) => owner.renew(lease).catch(() => {})));
    },
    tasks: (count) => Promise.all(Array.from({ length: count }, () => owner.createTask())),
  };
}
