import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { RefusalReason } from '@holdfast/proto/lease';
import { afterAll } from 'vitest';

const script = fileURLToPath(new URL('racers-process.js', import.meta.url));
const running = new Set<Racers>();

export interface Caller {
  readonly url: string;
  readonly token: string;
  readonly executionId: string;
}

/** What an acquire came to. */
export interface RaceOutcome {
  readonly lease?: { readonly leaseId: string; readonly fencingToken: string };
  readonly renewed?: boolean;
  readonly reason?: RefusalReason;
  /** The execution that holds the task. */
  readonly holder?: string;
}

export interface LoopOutcome {
  readonly grants: readonly { taskId: string; leaseId: string; fencingToken: string }[];
  readonly errors: readonly string[];
}

/** A client process with many executions, each on a connection of its own. */
export class Racers {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #answers: AsyncIterator<string>;

  private constructor() {
    this.#child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#answers = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
    running.add(this);
  }

  /** Starts the process and connects its executions. It is ended with the test file. */
  static async connect(callers: readonly Caller[]): Promise<Racers> {
    const racers = new Racers();
    await racers.#ask({ command: 'connect', callers });
    return racers;
  }

  /** All reach for one task at once. */
  race(taskId: string): Promise<RaceOutcome[]> {
    return this.#ask({ command: 'race', taskId });
  }

  /** All take and give back tasks for a while, and sometimes forget to give back. */
  loop(taskIds: readonly string[], ms: number): Promise<LoopOutcome> {
    return this.#ask({ command: 'loop', taskIds, ms });
  }

  /** Each takes one task and keeps it. */
  hold(taskIds: readonly string[], ttlMs: number): Promise<RaceOutcome[]> {
    return this.#ask({ command: 'hold', taskIds, ttlMs });
  }

  /** Ends the process in the middle of whatever it does. */
  async kill(): Promise<void> {
    running.delete(this);
    const ended = once(this.#child, 'exit');
    if (this.#child.kill('SIGKILL')) await ended;
  }

  async #ask<Answer>(question: { command: string } & Record<string, unknown>): Promise<Answer> {
    this.#child.stdin.write(`${JSON.stringify(question)}\n`);
    const { value, done } = await this.#answers.next();
    if (done) throw new Error('the racers ended without an answer');
    const answer = JSON.parse(value);
    if (answer?.failed) throw new Error(answer.failed);
    return answer;
  }
}

afterAll(async () => {
  for (const racers of [...running]) await racers.kill();
});
