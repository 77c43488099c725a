import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { ClusterOptions } from '../../src/cluster/cluster.js';

const script = fileURLToPath(new URL('opener-process.js', import.meta.url));
const running = new Set<Opener>();

type Options = Omit<ClusterOptions, 'onProgress'>;

/** Another process that has opened a cluster. */
export class Opener {
  attached = false;
  url = '';
  /** What it has said about its progress. */
  readonly progress: string[] = [];
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #ended: Promise<unknown>;
  readonly #messages: AsyncIterator<string>;

  constructor(options: Options, environment: NodeJS.ProcessEnv = {}) {
    this.#child = spawn(process.execPath, [script, JSON.stringify(options)], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, ...environment },
      // A process group of its own, so that a test can press Ctrl-C in it.
      detached: true,
    });
    this.#ended = once(this.#child, 'exit');
    this.#messages = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
    running.add(this);
  }

  /** Starts the process and waits until it has opened the cluster. */
  static async open(options: Options, environment?: NodeJS.ProcessEnv): Promise<Opener> {
    const opener = new Opener(options, environment);
    await opener.opened();
    return opener;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Waits until it says something that begins so. */
  async saysProgress(beginning: string): Promise<void> {
    for (;;) {
      const message = await this.#next();
      if (message.progress?.startsWith(beginning)) return;
    }
  }

  async opened(): Promise<void> {
    for (;;) {
      const { opened } = await this.#next();
      if (!opened) continue;
      this.attached = opened.attached;
      this.url = opened.url;
      return;
    }
  }

  /** Has it stop the cluster, and waits until it has ended. */
  async stop(): Promise<void> {
    this.#child.stdin.write('stop\n');
    await this.#end();
  }

  /** Ends it in the middle of whatever it does. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#end();
  }

  /** What Ctrl-C in its terminal does: a signal to all of its process group. */
  async interrupt(): Promise<void> {
    process.kill(-this.pid, 'SIGINT');
    await this.#end();
  }

  async #end(): Promise<void> {
    await this.#ended;
    running.delete(this);
  }

  async #next(): Promise<{ progress?: string; opened?: { attached: boolean; url: string } }> {
    const { value, done } = await this.#messages.next();
    if (done) throw new Error('the opener ended without having opened the cluster');
    const message = JSON.parse(value);
    if (message.failed) throw new Error(message.failed);
    if (message.progress) this.progress.push(message.progress);
    return message;
  }
}

/** Kills all that tests have left running. */
export async function killOpeners(): Promise<void> {
  for (const opener of running) await opener.kill();
}
