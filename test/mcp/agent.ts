import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach } from 'vitest';

const binary = fileURLToPath(new URL('../../bin/holdfast.js', import.meta.url));

/** What a tool answered: its structured part on success, its text on an error. */
// biome-ignore lint/suspicious/noExplicitAny: answers are looked into, field by field
export type Answer = any;

/** An agent as Holdfast meets one: the SDK's client. */
export class Agent {
  constructor(
    readonly client: Client,
    readonly close: () => Promise<void>,
    /** Of the bridge's process; over HTTP there is none. */
    readonly pid?: number | null,
  ) {
    agents.add(this);
  }

  /** Keeps it for the other tests of the file, which then must close it. */
  keep(): this {
    agents.delete(this);
    return this;
  }

  /** Calls a tool that succeeds. Checks that the text says the same as the structured part. */
  async call(tool: string, args: Record<string, unknown> = {}): Promise<Answer> {
    const { isError, content, structuredContent } = await this.client.callTool({
      name: tool,
      arguments: args,
    });
    const [text] = content as { text: string }[];
    if (isError) throw new Error(`${tool} failed: ${text?.text}`);
    if (JSON.stringify(structuredContent) !== text?.text)
      throw new Error(`${tool}: text and structure differ`);
    return structuredContent;
  }

  /** Calls a tool that fails, and returns what the agent is told. */
  async fail(tool: string, args: Record<string, unknown> = {}): Promise<string> {
    const answer = await this.client.callTool({ name: tool, arguments: args });
    const [text] = answer.content as { text: string }[];
    if (!answer.isError) throw new Error(`${tool} did not fail: ${text?.text}`);
    return text?.text ?? '';
  }
}

const agents = new Set<Agent>();

afterEach(async () => {
  await Promise.all([...agents].map((agent) => agent.close()));
  agents.clear();
});

/** Of a class that it does not know, the client asks the process itself for its protocol, not a second one beside it. */
class SoleTransport extends StdioClientTransport {}

export interface StdioAgentOptions {
  url: string;
  token: string;
  args?: readonly string[];
  env?: Record<string, string>;
  /** The protocol to speak; by default the newest. With `auto` the client starts a second process to find it out. */
  era?: 'newest' | 'legacy' | 'auto';
}

/** Connects an agent to a bridge in a process of its own. */
export async function stdioAgent(options: StdioAgentOptions): Promise<Agent> {
  const { era = 'newest' } = options;
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-mcp-'));
  const Transport = era === 'auto' ? StdioClientTransport : SoleTransport;
  const transport = new Transport({
    command: process.execPath,
    args: [binary, 'mcp', ...(options.args ?? [])],
    env: {
      ...getDefaultEnvironment(),
      HOLDFAST_URL: options.url,
      HOLDFAST_TOKEN: options.token,
      ...options.env,
    },
    cwd: folder,
    stderr: 'inherit',
  });
  const client = new Client(
    { name: 'test-agent', version: '1.0.0' },
    { versionNegotiation: { mode: era === 'newest' ? { pin: '2026-07-28' } : era } },
  );
  await client.connect(transport);
  return new Agent(
    client,
    async () => {
      await client.close();
      rmSync(folder, { recursive: true, force: true });
    },
    transport.pid,
  );
}

export interface HttpAgentOptions {
  url: string;
  token: string;
  /** What follows the path, such as `?tools=marq`. */
  query?: string;
  era?: 'newest' | 'legacy';
}

/** Connects an agent to the server's own endpoint. */
export async function httpAgent({
  url,
  token,
  query = '',
  era = 'newest',
}: HttpAgentOptions): Promise<Agent> {
  const client = new Client(
    { name: 'test-agent', version: '1.0.0' },
    { versionNegotiation: { mode: era === 'newest' ? { pin: '2026-07-28' } : era } },
  );
  const headers = { authorization: `Bearer ${token}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`/mcp${query}`, url), { requestInit: { headers } }),
  );
  return new Agent(client, () => client.close());
}
