import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Code, ConnectError } from '@connectrpc/connect';
import { type Holdfast, WriteRejected } from '@holdfast/client';
import type { Sql } from 'postgres';
import { expect } from 'vitest';
import { Agent, type Held } from '../support/agent.js';

/** What the server said it had done. */
export interface Acknowledged {
  readonly tasks: string[];
  readonly leases: Held[];
  /** By their texts, each of which is sent in one request only. */
  readonly notes: string[];
  readonly completed: Held[];
  readonly released: Held[];
}

/**
 * Agents at work while the server or its database dies again and again: each creates a task, leases it, writes
 * notes and completes it or gives it back, and repeats each call, with the same request_id, until it is answered.
 */
export class Workload {
  readonly acknowledged: Acknowledged = { tasks: [], leases: [], notes: [], completed: [], released: [] };
  /** How often each code was seen. */
  readonly faults = new Map<string, number>();
  readonly #connect: (executionId: string) => Holdfast;
  #over = false;
  #work: Promise<unknown> = Promise.resolve();

  /** @param connect called for a new connection at the start, and whenever one has failed */
  constructor(connect: (executionId: string) => Holdfast) {
    this.#connect = connect;
  }

  start(agents: number): void {
    this.#work = Promise.all(Array.from({ length: agents }, (_, i) => this.#agent(`agent-${i}`)));
  }

  /** Lets everybody finish the call that is under way, as often as it has to be repeated. */
  async finish(): Promise<void> {
    this.#over = true;
    await this.#work;
  }

  async #agent(executionId: string): Promise<void> {
    const { tasks, leases, notes, completed, released } = this.acknowledged;
    let agent = new Agent(this.#connect(executionId));
    const call = async <Answer>(run: (agent: Agent) => Promise<Answer>): Promise<Answer> => {
      for (;;) {
        try {
          return await run(agent);
        } catch (error) {
          if (error instanceof WriteRejected) throw error;
          const code = Code[ConnectError.from(error).code] ?? String(error);
          this.faults.set(code, (this.faults.get(code) ?? 0) + 1);
          await sleep(20 + Math.random() * 50);
          agent.holdfast.close();
          agent = new Agent(this.#connect(executionId));
        }
      }
    };
    for (let round = 0; !this.#over; round++) {
      const ids = { create: randomUUID(), acquire: randomUUID(), note: randomUUID(), complete: randomUUID() };
      const taskId = await call((a) => a.createTask(`${executionId} ${round}`, ids.create));
      tasks.push(taskId);
      const held = await call((a) => a.acquire(taskId, { requestId: ids.acquire, ttlMs: 60_000 }));
      leases.push(held);
      await call((a) => a.note(held, ids.note, ids.note));
      notes.push(ids.note);
      await call((a) => a.renew(held, 60_000));
      if (round % 3 === 0) {
        await call((a) => a.release(held));
        released.push(held);
      } else if (round % 3 === 1) {
        await call((a) => a.complete(held, { result: 'done', requestId: ids.complete }));
        completed.push(held);
      }
    }
  }

  /** What was acknowledged is in the database, each thing once, and nobody was told INTERNAL. */
  async check(sql: Sql): Promise<void> {
    expect(
      [...this.faults.keys()].filter((code) => !['Unavailable', 'Aborted', 'Canceled'].includes(code)),
    ).toEqual([]);
    const { tasks, leases, notes, completed, released } = this.acknowledged;
    const found = async (rows: Promise<readonly { id?: unknown }[]>) =>
      (await rows).map(({ id }) => id).toSorted();
    expect(await found(sql`SELECT id FROM task WHERE id = ANY(${tasks})`)).toEqual(tasks.toSorted());
    // One lease for each acquire, and the one that was answered.
    const leased = leases.map(({ taskId }) => taskId);
    expect(await found(sql`SELECT id FROM lease WHERE task_id = ANY(${leased})`)).toEqual(
      leases.map(({ leaseId }) => leaseId).toSorted(),
    );
    expect(await found(sql`SELECT text AS id FROM note WHERE text = ANY(${notes})`)).toEqual(
      notes.toSorted(),
    );
    const ids = (held: readonly Held[]) => held.map(({ leaseId }) => leaseId);
    const ended = (held: readonly Held[], end: number) =>
      found(sql`SELECT id FROM lease WHERE id = ANY(${ids(held)}) AND "end" = ${end}`);
    expect(await ended(completed, 3)).toEqual(ids(completed).toSorted());
    expect(await ended(released, 2)).toEqual(ids(released).toSorted());
    const titles = await sql`SELECT title FROM task GROUP BY title HAVING count(*) > 1`;
    expect(titles).toEqual([]);
  }
}
