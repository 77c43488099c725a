import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { stringify } from 'smol-toml';

/** How the agent reaches Holdfast. */
export interface Way {
  /** The server's address. */
  url: string;
  /** By the server's own endpoint, not by a process of this command. */
  http: boolean;
  /** Names of the tools, when not our own. */
  tools: string | undefined;
}

/** What one MCP client reads. */
export interface ClientConfig {
  /** Where it looks for it in a project's folder. */
  readonly file: string;
  readonly format: 'json' | 'toml';
  /** The table that lists its servers. */
  readonly table: 'mcpServers' | 'mcp_servers';
  /** Our entry there. The token is never in it: the client takes it from its environment. */
  entry(way: Way): Record<string, unknown>;
}

const TOKEN = 'HOLDFAST_TOKEN';

/** The clients that we know, by name. */
export const CLIENTS = {
  claude: {
    file: '.mcp.json',
    format: 'json',
    table: 'mcpServers',
    entry: (way) =>
      way.http
        ? { type: 'http', url: endpoint(way), headers: { Authorization: `Bearer \${${TOKEN}}` } }
        : { type: 'stdio', ...program(way), env: { HOLDFAST_URL: way.url, [TOKEN]: `\${${TOKEN}}` } },
  },
  codex: {
    file: join('.codex', 'config.toml'),
    format: 'toml',
    table: 'mcp_servers',
    entry: (way) =>
      way.http
        ? { url: endpoint(way), bearer_token_env_var: TOKEN }
        : { ...program(way), env: { HOLDFAST_URL: way.url }, env_vars: [TOKEN] },
  },
  cursor: {
    file: join('.cursor', 'mcp.json'),
    format: 'json',
    table: 'mcpServers',
    entry: (way) =>
      way.http
        ? { url: endpoint(way), headers: { Authorization: `Bearer \${env:${TOKEN}}` } }
        : { type: 'stdio', ...program(way), env: { HOLDFAST_URL: way.url, [TOKEN]: `\${env:${TOKEN}}` } },
  },
} as const satisfies Record<string, ClientConfig>;

/** The configuration as a file of its own would hold it. */
export function configText(client: ClientConfig, way: Way): string {
  const whole = { [client.table]: { holdfast: client.entry(way) } };
  return client.format === 'json' ? `${JSON.stringify(whole, null, 2)}\n` : `${stringify(whole)}\n`;
}

function endpoint({ url, tools }: Way): string {
  const endpoint = new URL('/mcp', url);
  if (tools) endpoint.searchParams.set('tools', tools);
  return endpoint.href;
}

function program({ tools }: Way): { command: string; args: string[] } {
  const args = ['mcp', ...(tools ? ['--tools', tools] : [])];
  // The client may look elsewhere than this shell: only a command that every shell finds can go by its name.
  if (isOnPath('holdfast')) return { command: 'holdfast', args };
  return { command: process.execPath, args: [process.argv[1] ?? '', ...args] };
}

function isOnPath(name: string): boolean {
  // npx and npm scripts put the packages of this folder there, for their own time only.
  const folders = (process.env.PATH ?? '').split(delimiter).filter((path) => !path.includes('node_modules'));
  return folders.some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
