import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

/** What a holder is told. `block`: its event loop stands still for longer than the lease lives. */
export interface HolderTask {
  readonly url: string;
  readonly token: string;
  readonly taskId: string;
  readonly ttlMs: number;
  readonly meanwhile: 'wait' | 'block';
}

/** A program that holds a lease, in a process of its own. */
export class Holder {
  readonly child: ChildProcessByStdio<Writable, Readable, null>;
  readonly ended: Promise<[number | null, NodeJS.Signals | null]>;
  readonly #lines: AsyncIterator<string>;

  constructor(task: HolderTask) {
    this.child = spawn(process.execPath, [fileURLToPath(new URL('holder-process.js', import.meta.url))], {
      env: { PATH: process.env.PATH, HOLDER: JSON.stringify(task) },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.ended = once(this.child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
    this.#lines = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
    onTestFinished(async () => {
      this.child.kill('SIGKILL');
      await this.ended;
    });
  }

  /** The next thing that it says. */
  async says(): Promise<Record<string, unknown>> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error('the holder has ended');
    return JSON.parse(value);
  }

  /** Lets its work go on. */
  goOn(): void {
    this.child.stdin.write('go on\n');
  }
}
