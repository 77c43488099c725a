import { setTimeout as sleep } from 'node:timers/promises';
import { Code, ConnectError } from '@connectrpc/connect';
import { bestReady, explain, LeaseLost, Refused, Setbacks, type Wanted, withLease } from '@holdfast/client';
import { RefusalReason } from '@holdfast/proto/lease';
import type { Session } from '../session.js';
import { oneLine } from '../text.js';
import { type Filter, mayBecomeReady } from './queue-view.js';
import { runTask, type TaskEnd } from './run-task.js';

export interface WorkerOptions {
  readonly filter: Filter;
  readonly ttlMs: number | undefined;
  /** Work on one task only. */
  readonly once: boolean;
  /** With `once`: how long to wait for a task. */
  readonly waitMs: number;
  /** Stop when there is nothing more to do. */
  readonly untilEmpty: boolean;
  /** So many failures on one task, and it is left to others. */
  readonly mostFailures: number;
  /** Take no more tasks. */
  readonly stopTaking: AbortSignal;
  /** Stop the command, too. */
  readonly stopWorking: AbortSignal;
}

/** What a worker did. */
export interface WorkDone {
  readonly completed: string[];
  /** Tasks that the command failed on too often. */
  readonly givenUp: string[];
}

/** A call waits so long for a task; an idle worker is a call a minute. */
const WAIT_MS = 50_000;
/** With `untilEmpty`: how often it is looked whether anything may still become ready. */
const LOOK_MS = 2_000;
/** While some tasks are left alone, the others are looked for so often. */
const AROUND_RESTING_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

/** Takes one ready task after the other and runs the command on it, until it is told to stop or has nothing to do. */
export async function work(
  session: Session,
  command: readonly string[],
  options: WorkerOptions,
): Promise<WorkDone> {
  return new Worker(session, command, options).work();
}

class Worker {
  readonly #session: Session;
  readonly #command: readonly string[];
  readonly #options: WorkerOptions;
  readonly #setbacks: Setbacks;
  readonly #completed: string[] = [];

  constructor(session: Session, command: readonly string[], options: WorkerOptions) {
    this.#session = session;
    this.#command = command;
    this.#options = options;
    this.#setbacks = new Setbacks(options.mostFailures);
  }

  async work(): Promise<WorkDone> {
    const { stopTaking, once } = this.#options;
    for (let troubles = 0; !stopTaking.aborted; ) {
      try {
        const taken = await this.#takeOne();
        troubles = 0;
        if (once || (!taken && (await this.#isOver()))) break;
      } catch (error) {
        if (stopTaking.aborted) break;
        if (!isPassing(error)) throw error;
        const pause = Math.min(500 * 2 ** troubles++, LONGEST_PAUSE_MS) * (0.5 + Math.random());
        this.#session.out.note(`${oneLine(explain(error))} Trying again in ${Math.ceil(pause / 1000)} s.`);
        await this.#pause(pause);
      }
    }
    return { completed: this.#completed, givenUp: [...this.#setbacks.givenUp] };
  }

  /** @returns whether there was a task to take; with `once`, throws Refused when there was none */
  async #takeOne(): Promise<boolean> {
    const { holdfast, project } = this.#session;
    const resting = this.#setbacks.resting;
    let wanted: Wanted = { next: this.#options.filter };
    if (resting.size > 0) {
      // The server would offer the failed task again, and again: look for another one.
      const other = await bestReady(holdfast, project, this.#options.filter, resting);
      if (!other) {
        await this.#pause(AROUND_RESTING_MS);
        return resting.size > this.#setbacks.givenUp.size;
      }
      wanted = { taskId: other.id };
    }
    try {
      await this.#workOn(wanted);
      return true;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      switch (error.refusal.reason) {
        case RefusalReason.NOTHING_READY:
          if (this.#options.once) throw error;
          return false;
        case RefusalReason.HELD:
        case RefusalReason.DEPENDENCIES_UNMET:
        case RefusalReason.TASK_CLOSED:
        case RefusalReason.LEASE_ENDED:
          // Somebody else was faster.
          return true;
        default:
          throw error;
      }
    }
  }

  async #workOn(wanted: Wanted): Promise<void> {
    const { project, out } = this.#session;
    const { ttlMs, stopTaking, stopWorking } = this.#options;
    const waitMs = 'next' in wanted ? this.#waitMs() : 0;
    await withLease(
      this.#session.holdfast,
      wanted,
      async (held) => {
        const { id, title } = held.task;
        out.note(`Working on ${id}  ${oneLine(title)}`);
        const end = await runTask(this.#session, held, this.#command, stopWorking);
        this.#record(id, end, held.releaseNote);
      },
      {
        project,
        waitMs,
        signal: stopTaking,
        ...(ttlMs === undefined ? {} : { ttlMs }),
        onReleaseFailed: (error, lease) =>
          out.note(
            `The lease on ${lease.taskId} could not be released and runs out by itself: ${explain(error)}`,
          ),
      },
    );
  }

  #waitMs(): number {
    const { once, waitMs, untilEmpty } = this.#options;
    if (once) return waitMs;
    return untilEmpty ? LOOK_MS : WAIT_MS;
  }

  #record(taskId: string, end: TaskEnd, why: string): void {
    const { out } = this.#session;
    switch (end) {
      case 'done':
        this.#completed.push(taskId);
        this.#setbacks.succeeded(taskId);
        out.note(`Completed ${taskId}.`);
        return;
      case 'failed': {
        const pause = this.#setbacks.failed(taskId);
        const then = Number.isFinite(pause)
          ? `It is released, and left alone for ${Math.ceil(pause / 1000)} s.`
          : 'It is released, and left to others.';
        out.note(`Failed on ${taskId}: ${oneLine(why)} ${then}`);
        return;
      }
      case 'released':
      case 'stopped':
        out.note(`Released ${taskId}.`);
    }
  }

  async #isOver(): Promise<boolean> {
    const { untilEmpty, filter } = this.#options;
    if (!untilEmpty) return false;
    return !(await mayBecomeReady(this.#session, filter));
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#options.stopTaking }).catch(() => {});
  }
}

/** Whether trying again later may help. A lost lease is one: the task is somebody else's now. */
function isPassing(error: unknown): boolean {
  if (error instanceof LeaseLost) return true;
  if (!(error instanceof ConnectError)) return false;
  return [
    Code.Unavailable,
    Code.Aborted,
    Code.DeadlineExceeded,
    Code.ResourceExhausted,
    Code.Canceled,
  ].includes(error.code);
}
