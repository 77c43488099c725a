import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Connection } from '../connection.js';
import type { AgentActs, Command, Report } from './agent-acts.js';

const ANSWER_WITHIN_MS = 20_000;
const script = fileURLToPath(new URL('./agent-process.js', import.meta.url));

/** Who an agent is: the same again makes its twin. */
export interface AgentIdentity extends Connection {
  /** Its principal, and the name of its lane. */
  readonly name: string;
  readonly executionId: string;
}

/** An agent in a process of its own. */
export class Agent {
  readonly identity: AgentIdentity;
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #waiting = new Map<number, (report: Exclude<Report, 'listening'>) => void>();
  #commands = 0;

  private constructor(identity: AgentIdentity) {
    this.identity = identity;
    this.#child = fork(script, {
      execArgv: [],
      env: {
        ...process.env,
        HOLDFAST_URL: identity.url,
        HOLDFAST_TOKEN: identity.token,
        HOLDFAST_EXECUTION_ID: identity.executionId,
      },
      // Messages of the API have 64-bit numbers, which JSON has not.
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#exited = once(this.#child, 'exit');
  }

  /** Starts one; resolves when it listens. */
  static async start(identity: AgentIdentity): Promise<Agent> {
    const agent = new Agent(identity);
    await Promise.race([once(agent.#child, 'message'), agent.#death()]);
    agent.#child.on('message', (report: Exclude<Report, 'listening'>) => {
      agent.#waiting.get(report.id)?.(report);
    });
    return agent;
  }

  get name(): string {
    return this.identity.name;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Has it do something, and resolves with what the server answered. Rejects with what went wrong. */
  async ask<Act extends keyof AgentActs>(
    act: Act,
    ...given: Parameters<AgentActs[Act]>
  ): Promise<Awaited<ReturnType<AgentActs[Act]>>> {
    const id = ++this.#commands;
    const answered = new Promise<Exclude<Report, 'listening'>>((resolve) => this.#waiting.set(id, resolve));
    this.#child.send({ id, act, arguments: given } satisfies Command);
    const tooLate = sleep(ANSWER_WITHIN_MS, undefined, { ref: false }).then(() => {
      throw new Error(`${this.name} did not ${act} within ${ANSWER_WITHIN_MS / 1_000} s`);
    });
    const report = await Promise.race([answered, this.#death(), tooLate]);
    if ('error' in report) throw new Error(`${this.name} could not ${act}: ${report.error}`);
    return report.answer as Awaited<ReturnType<AgentActs[Act]>>;
  }

  /** Kills it as a crash would: no goodbye, no release. Resolves with the signal that ended it. */
  async kill(): Promise<NodeJS.Signals | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill('SIGKILL');
      await this.#exited;
    }
    return this.#child.signalCode;
  }

  async #death(): Promise<never> {
    await this.#exited;
    throw new Error(`the process of ${this.name} ended`);
  }
}
