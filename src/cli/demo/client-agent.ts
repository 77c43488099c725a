import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { packageFile } from '../../package-file.js';
import { type Agent, type AgentIdentity, ANSWER_WITHIN_MS } from './agent.js';
import type { AgentActs } from './agent-acts.js';

/** From the demo to the agent's process. */
export interface Command {
  id: number;
  act: keyof AgentActs;
  arguments: unknown[];
}

/** From the agent's process to the demo: that it listens, or what came of a command. */
export type Report = 'listening' | { id: number; answer: unknown } | { id: number; error: string };

const script = packageFile('dist/bundle/client-agent-process.js');

/** An agent in a process of its own, with the TypeScript client. */
export class ClientAgent implements Agent {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #waiting = new Map<number, (report: Exclude<Report, 'listening'>) => void>();
  #commands = 0;

  private constructor(readonly identity: AgentIdentity) {
    this.#child = fork(script, {
      execArgv: [],
      env: {
        ...process.env,
        HOLDFAST_URL: identity.url,
        HOLDFAST_TOKEN: identity.token,
        HOLDFAST_EXECUTION_ID: identity.executionId,
      },
      // Fencing tokens are 64-bit numbers, which JSON has not.
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#exited = once(this.#child, 'exit');
  }

  /** Starts one; resolves when it listens. */
  static async start(identity: AgentIdentity): Promise<Agent> {
    const agent = new ClientAgent(identity);
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

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGKILL');
    await this.#exited;
  }

  async #death(): Promise<never> {
    await this.#exited;
    throw new Error(`the process of ${this.name} ended`);
  }
}
