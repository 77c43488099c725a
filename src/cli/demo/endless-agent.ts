import { setTimeout as sleep } from 'node:timers/promises';
import { durationFromMs } from '@bufbuild/protobuf/wkt';
import { createHoldfast, type Holdfast, WriteRejected } from '@holdfast/client';
import type { Grant } from '@holdfast/proto/lease';
import { type Task, TaskStatus } from '@holdfast/proto/task';
import type { Connection } from '../connection.js';

const TTL_MS = 6_000;
const WAIT_MS = 5_000;

/** How a task that was taken ends, with what share of chance. */
const FATES = [
  ['completes', 0.78],
  ['releases', 0.08],
  ['dies', 0.14],
] as const;
type Fate = (typeof FATES)[number][0];

/**
 * An agent of the endless demo. It takes ready tasks and works on them for some seconds each; now and then it reaches
 * for what another one holds, gives a task back, or dies and comes back late with its old proof.
 */
export class EndlessAgent {
  readonly #name: string;
  readonly #holdfast: Holdfast;
  readonly #signal: AbortSignal;
  #run = 1;

  constructor(name: string, connection: Connection, signal: AbortSignal) {
    this.#name = name;
    this.#holdfast = createHoldfast(connection);
    this.#signal = signal;
  }

  get #executionId(): string {
    return `${this.#name}-run-${this.#run}`;
  }

  /** Works until the signal. What goes wrong, such as a server that is away for a moment, is tried again. */
  async work(): Promise<void> {
    while (!this.#signal.aborted) {
      try {
        if (chance(0.3)) await this.#reachForAnother();
        const { outcome } = await this.#holdfast.leases.acquireNextTask({
          executionId: this.#executionId,
          ttl: durationFromMs(TTL_MS),
          wait: durationFromMs(WAIT_MS),
        });
        if (outcome.case === 'grant') await this.#workOn(outcome.value);
        await this.#pause(300, 1_500);
      } catch {
        if (!this.#signal.aborted) await sleep(1_000);
      }
    }
    this.#holdfast.close();
  }

  async #reachForAnother(): Promise<void> {
    const { tasks } = await this.#holdfast.tasks.listTasks({ statuses: [TaskStatus.IN_PROGRESS] });
    const task = tasks[Math.floor(Math.random() * tasks.length)];
    if (!task) return;
    const { outcome } = await this.#holdfast.leases.acquireLease({
      taskId: task.id,
      executionId: this.#executionId,
      ttl: durationFromMs(TTL_MS),
    });
    if (outcome.case === 'grant') await this.#workOn(outcome.value);
  }

  async #workOn({ lease, task }: Grant): Promise<void> {
    if (!lease || !task) return;
    const proof = { leaseId: lease.id, fencingToken: lease.fencingToken };
    const write = { taskId: task.id, proof, executionId: this.#executionId };
    const fate = drawFate();
    await this.#pause(1_500, 5_000, proof);
    await this.#holdfast.tasks.addNote({ ...write, text: said(task, 'Note halfway') });
    if (fate === 'dies') {
      await this.#pause(TTL_MS + 2_500, TTL_MS + 7_000);
      await this.#holdfast.tasks.completeTask({ ...write, result: said(task, 'Result') }).catch((error) => {
        if (!(error instanceof WriteRejected)) throw error;
      });
      this.#run += 1;
      return;
    }
    await this.#pause(1_500, 7_000, proof);
    if (fate === 'releases') {
      await this.#holdfast.leases.releaseLease({ ...proof, note: 'somebody else should go on with it' });
    } else {
      await this.#holdfast.tasks.completeTask({ ...write, result: said(task, 'Result') });
    }
  }

  /** Takes its time; with a proof, it keeps the lease renewed meanwhile. */
  async #pause(
    fromMs: number,
    toMs: number,
    proof?: { leaseId: string; fencingToken: bigint },
  ): Promise<void> {
    let leftMs = fromMs + Math.random() * (toMs - fromMs);
    while (leftMs > 0) {
      const ms = Math.min(leftMs, TTL_MS / 3);
      await sleep(ms, undefined, { signal: this.#signal });
      leftMs -= ms;
      if (proof && leftMs > 0) await this.#holdfast.leases.renewLease(proof);
    }
  }
}

const chance = (share: number): boolean => Math.random() < share;

function drawFate(): Fate {
  let drawn = Math.random();
  for (const [fate, share] of FATES) {
    drawn -= share;
    if (drawn < 0) return fate;
  }
  return 'completes';
}

/** What the plan has the agent say, from the task's own text. */
function said({ body }: Task, what: string): string {
  return body.match(new RegExp(`^${what}: (.*)\\.$`, 'm'))?.[1] ?? 'done';
}
