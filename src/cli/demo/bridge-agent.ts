import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { packageFile } from '../../package-file.js';
import { type Agent, type AgentIdentity, ANSWER_WITHIN_MS } from './agent.js';
import type { AgentActs } from './agent-acts.js';

const main = packageFile('bin/holdfast.js');

/** What a tool answered, as its output schema tells it. */
// biome-ignore lint/suspicious/noExplicitAny: the answers of several tools are looked into
type Answer = any;

/** To find out a bridge's protocol the client would start a second one beside it; with a class of our own it asks this. */
class BridgeTransport extends StdioClientTransport {}

/**
 * An agent that knows nothing but MCP: it calls tools of `holdfast mcp`, a process of its own, which keeps its leases
 * and proves them for it.
 */
export class BridgeAgent implements Agent {
  readonly pid: number;
  readonly #acts: AgentActs = {
    look: async (planId) => {
      const { tasks } = await this.#call('list_ready_tasks', { plan_id: planId });
      return tasks.map(({ id, title }: Answer) => ({ id, title }));
    },
    acquire: async (taskId, ttlMs) => {
      const answer = await this.#call('acquire_task', { task_id: taskId, ttl_seconds: ttlMs / 1_000 });
      const { acquired, reason, refusal, lease, continuation = {} } = answer;
      if (!acquired)
        return { refusal: { reason, ...(refusal.holder && { holder: holderOf(refusal.holder) }) } };
      const { attempt = 0, previous_holder, previous_end: previousEnd, notes = [] } = continuation;
      return {
        grant: {
          leaseId: lease.lease_id,
          fencingToken: BigInt(lease.fencing_token),
          attempt,
          ...(previous_holder && { previousHolder: holderOf(previous_holder).principal, previousEnd }),
          ...(notes[0] && { lastNote: notes[0].text }),
        },
      };
    },
    note: async (taskId, text) => {
      await this.#call('add_note', { task_id: taskId, text });
      const { notes } = await this.#call('get_task', { task_id: taskId });
      return notes[0]?.text;
    },
    complete: async (taskId, result) => {
      const given = { task_id: taskId, result };
      const { isError, told, answer } = await this.#request('complete_task', given);
      if (!isError) return { status: answer.task.status, result: answer.task.result };
      const code = /\((\w+)\)/.exec(told)?.[1];
      if (!code) throw new Error(told);
      const holder = /Now (.*?) holds it/.exec(told)?.[1];
      return { rejection: { code, advice: told, ...(holder && { holder: holderOf(holder).principal }) } };
    },
  };

  private constructor(
    readonly identity: AgentIdentity,
    private readonly client: Client,
    private readonly closed: Promise<unknown>,
    pid: number | null,
  ) {
    this.pid = pid ?? 0;
  }

  /** Starts its bridge; resolves when that answers. */
  static async start(identity: AgentIdentity): Promise<Agent> {
    const transport = new BridgeTransport({
      command: process.execPath,
      args: [main, 'mcp'],
      env: {
        ...(process.env as Record<string, string>),
        HOLDFAST_URL: identity.url,
        HOLDFAST_TOKEN: identity.token,
        HOLDFAST_EXECUTION_ID: identity.executionId,
      },
      stderr: 'inherit',
    });
    const client = new Client(
      { name: 'holdfast-demo', version: '0.1.0' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    const closed = new Promise<void>((resolve) => {
      client.onclose = resolve;
    });
    await client.connect(transport, { timeout: ANSWER_WITHIN_MS });
    return new BridgeAgent(identity, client, closed, transport.pid);
  }

  get name(): string {
    return this.identity.name;
  }

  async ask<Act extends keyof AgentActs>(
    act: Act,
    ...given: Parameters<AgentActs[Act]>
  ): Promise<Awaited<ReturnType<AgentActs[Act]>>> {
    const work = this.#acts[act] as (...given: unknown[]) => Promise<unknown>;
    try {
      return (await work(...given)) as Awaited<ReturnType<AgentActs[Act]>>;
    } catch (error) {
      throw new Error(`${this.name} could not ${act}: ${(error as Error).message}`, { cause: error });
    }
  }

  async kill(): Promise<void> {
    if (!this.client.transport) return;
    try {
      process.kill(this.pid, 'SIGKILL');
    } catch {
      // It has just ended by itself.
    }
    await this.closed;
  }

  async #call(tool: string, given: Record<string, unknown>): Promise<Answer> {
    const { isError, told, answer } = await this.#request(tool, given);
    if (isError) throw new Error(told);
    return answer;
  }

  async #request(name: string, given: Record<string, unknown>) {
    const result = await this.client.callTool({ name, arguments: given }, { timeout: ANSWER_WITHIN_MS });
    const [first] = result.content;
    return {
      isError: result.isError === true,
      told: first?.type === 'text' ? first.text : '',
      answer: result.structuredContent as Answer,
    };
  }
}

/** Takes `ada (ada-run-1)` apart. */
function holderOf(shown: string): { principal: string; executionId: string } {
  const [, principal = shown, executionId = ''] = /^(.*) \((.*)\)$/.exec(shown) ?? [];
  return { principal, executionId };
}
