import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { parse } from 'smol-toml';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { Cli } from '../cli/holdfast-process.js';
import { Agent } from './agent.js';
import { setUpPlace } from './place.js';

const place = setUpPlace();
let cli: Cli;

beforeEach(() => {
  cli = new Cli({ HOLDFAST_URL: place.service.url });
});
afterEach(() => cli.remove());

const CLIENTS = [
  ['claude', '.mcp.json'],
  ['codex', '.codex/config.toml'],
  ['cursor', '.cursor/mcp.json'],
] as const;

interface Entry {
  command?: string;
  args?: string[];
  env?: Record<string, string>;
  env_vars?: string[];
  url?: string;
  headers?: Record<string, string>;
  bearer_token_env_var?: string;
}

function entryOf(client: string, text: string): Entry {
  const whole = (client === 'codex' ? parse(text) : JSON.parse(text)) as Record<string, { holdfast: Entry }>;
  return (whole.mcpServers ?? whole.mcp_servers)?.holdfast as Entry;
}

/** Starts what the configuration says, as the client does: it fills in its own environment. */
async function connect(entry: Entry): Promise<Agent> {
  const own: Record<string, string> = { HOLDFAST_TOKEN: place.adaToken };
  const filled = (values: Record<string, string> = {}) =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [
        name,
        value.replace(/\$\{(?:env:)?(\w+)\}/g, (_whole, variable: string) => own[variable] ?? ''),
      ]),
    );
  const client = new Client({ name: 'test-agent', version: '1.0.0' });
  if (entry.url) {
    const variable = entry.bearer_token_env_var;
    const headers = variable ? { authorization: `Bearer ${own[variable]}` } : filled(entry.headers);
    await client.connect(new StreamableHTTPClientTransport(new URL(entry.url), { requestInit: { headers } }));
  } else {
    const passed = Object.fromEntries((entry.env_vars ?? []).map((name) => [name, own[name] ?? '']));
    const env = { PATH: process.env.PATH ?? '', ...filled(entry.env), ...passed };
    const { command = '', args = [] } = entry;
    await client.connect(
      new StdioClientTransport({ command, args, env, cwd: cli.folder, stderr: 'inherit' }),
    );
  }
  return new Agent(client, () => client.close());
}

describe.each(CLIENTS)('%s', (client, file) => {
  test.each([
    ['stdio', []],
    ['HTTP', ['--http']],
  ])('is connected over %s by exactly what is printed', async (_way, options) => {
    const { code, stdout, stderr } = await cli.run('mcp', 'install', client, ...options);
    expect(code).toBe(0);
    expect(stderr).toContain(file);
    expect(stderr).toContain('export HOLDFAST_TOKEN=');
    await place.newTask('first');
    const agent = await connect(entryOf(client, stdout));
    expect(await agent.call('acquire_next_task')).toMatchObject({ acquired: true, task: { title: 'first' } });
  });

  it('gets it merged into its file, once, and nothing else of the file changes', async () => {
    const path = join(cli.folder, file);
    const before =
      client === 'codex'
        ? '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "other"\n'
        : '{"mcpServers": {"other": {"command": "other"}}, "mine": [1]}';
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, before);
    const { stdout } = await cli.run('mcp', 'install', client);
    expect((await cli.run('mcp', 'install', client, '--write')).stdout).toBe(`Wrote ${file}.\n`);
    const written = readFileSync(path, 'utf8');
    expect(entryOf(client, written)).toEqual(entryOf(client, stdout));
    expect(written).toContain('other');
    if (client === 'codex') expect(written.startsWith(before)).toBe(true);
    else expect(JSON.parse(written)).toMatchObject(JSON.parse(before));
    expect((await cli.run('mcp', 'install', client, '--write')).stdout).toBe(`${file} has it already.\n`);
    expect(readFileSync(path, 'utf8')).toBe(written);
  });
});

/** Puts `holdfast` on the path, and what else `programs` says, each with its text. */
function onPath(programs: Record<string, string> = {}): { restore: () => void } {
  const folder = join(cli.folder, 'bin');
  mkdirSync(folder);
  symlinkSync(fileURLToPath(new URL('../../bin/holdfast.js', import.meta.url)), join(folder, 'holdfast'));
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(folder, name), text, { mode: 0o755 });
  }
  const path = process.env.PATH;
  process.env.PATH = `${folder}${delimiter}${path}`;
  cli.env.PATH = process.env.PATH;
  return {
    restore() {
      process.env.PATH = path;
    },
  };
}

test.each(['stdio', 'http'])('README.md shows how to connect over %s', async (way) => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const shown = new RegExp(`<!-- mcp ${way} -->\\n\`\`\`json\\n([^\`]+)`).exec(readme)?.[1] ?? '';
  const { restore } = onPath();
  try {
    // The port is this test's own; all else is as shown.
    const here = shown.replaceAll('http://localhost:7420', place.service.url);
    const { stdout } = await cli.run('mcp', 'install', 'claude', ...(way === 'http' ? ['--http'] : []));
    expect(JSON.parse(stdout)).toEqual(JSON.parse(here));
    const agent = await connect(entryOf('claude', here));
    expect(await agent.call('list_ready_tasks')).toEqual({ tasks: [] });
  } finally {
    restore();
  }
});

/** What `claude mcp add` writes for its arguments. */
function addedByClaude(args: readonly string[]): Entry {
  const rest = [...args];
  const entry: Entry = { env: {}, headers: {} };
  const named: string[] = [];
  for (let next = rest.shift(); next !== undefined; next = rest.shift()) {
    if (next === '--') {
      const [command = '', ...args] = rest.splice(0);
      Object.assign(entry, { command, args });
    } else if (next === '-e' || next === '--header') {
      const [, name = '', value = ''] = /^(.*?)(?:=|: )(.*)$/.exec(rest.shift() ?? '') ?? [];
      Object.assign((next === '-e' ? entry.env : entry.headers) ?? {}, { [name]: value });
    } else if (next === '--transport') expect(rest.shift()).toBe('http');
    else named.push(next);
  }
  expect(named[0]).toBe('holdfast');
  if (named[1]) entry.url = named[1];
  return entry;
}

it("docs/mcp.md shows the commands of Claude Code's own that connect", async () => {
  const page = readFileSync(new URL('../../docs/mcp.md', import.meta.url), 'utf8');
  const commands = page.split('\n').filter((line) => line.startsWith('claude mcp add '));
  expect(commands).toHaveLength(2);
  const { restore } = onPath({
    claude: '#!/usr/bin/env node\nconsole.log(JSON.stringify(process.argv.slice(4)));\n',
  });
  try {
    for (const command of commands) {
      const env = { ...process.env, HOLDFAST_TOKEN: place.adaToken };
      const here = command.replaceAll('http://localhost:7420', place.service.url);
      const args = JSON.parse(execFileSync('sh', ['-c', here], { env, encoding: 'utf8' }));
      const agent = await connect(addedByClaude(args));
      expect(await agent.call('list_ready_tasks')).toEqual({ tasks: [] });
    }
  } finally {
    restore();
  }
});

it('makes the file where there is none, never with the token in it', async () => {
  cli.env.HOLDFAST_TOKEN = place.adaToken;
  await cli.run('mcp', 'install', 'cursor', '--write', '--tools', 'marq');
  const written = readFileSync(join(cli.folder, '.cursor/mcp.json'), 'utf8');
  expect(written).not.toContain(place.adaToken);
  expect(entryOf('cursor', written).args?.slice(-3)).toEqual(['mcp', '--tools', 'marq']);
});

it('points to the server that is asked for', async () => {
  const { stdout } = await cli.run('mcp', 'install', 'claude', '--http', '--url', 'https://holdfast.example');
  expect(entryOf('claude', stdout).url).toBe('https://holdfast.example/mcp');
});

it('leaves a file alone that it cannot read', async () => {
  writeFileSync(join(cli.folder, '.mcp.json'), '{ // mine\n}');
  const { code, stderr } = await cli.run('mcp', 'install', 'claude', '--write');
  expect(code).toBe(1);
  expect(stderr).toMatch(/\.mcp\.json was left as it is: it is no valid JSON/);
  expect(readFileSync(join(cli.folder, '.mcp.json'), 'utf8')).toBe('{ // mine\n}');
});

it('does not know every client', async () => {
  const { code, stderr } = await cli.run('mcp', 'install', 'emacs');
  expect(code).toBe(2);
  expect(stderr).toMatch(/claude, codex, cursor/);
});
