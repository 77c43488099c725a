import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { TOOLSET_NAMES } from '@holdfast/mcp';
import { Argument, Command, Option } from 'commander';
import { reporting } from '../command.js';
import { DEFAULT_URL } from '../connection.js';
import { UsageError } from '../exit.js';
import { readSettings } from '../settings.js';
import { CLIENTS, type ClientConfig, configText } from './client-configs.js';
import { mergeConfig } from './merge-config.js';

interface Options {
  http?: boolean;
  url?: string;
  tools?: string;
  write?: boolean;
  file?: string;
}

export function mcpInstall(): Command {
  return new Command('install')
    .description("Print an MCP client's configuration for Holdfast, or write it into the client's file")
    .addArgument(new Argument('<client>', 'claude, codex or cursor').choices(Object.keys(CLIENTS)))
    .option('--write', "merge it into the client's file in this folder")
    .option('--file <path>', 'with --write: another file')
    .option('--http', "connect to the server's /mcp; else the client starts `holdfast mcp`")
    .option('--url <url>', 'the server (else HOLDFAST_URL, else http://localhost:7420)')
    .addOption(
      new Option('--tools <names>', 'the names of the tools: holdfast, marq or seamless').choices(
        TOOLSET_NAMES,
      ),
    )
    .addHelpText(
      'after',
      `
The token is not written: the client takes it from HOLDFAST_TOKEN, so export that before you start it.

Examples:
  $ holdfast mcp install claude --write
  $ holdfast mcp install codex --http --url https://holdfast.example`,
    )
    .action(
      reporting<Options, [keyof typeof CLIENTS]>(async (options, name) => {
        install(CLIENTS[name], name, options);
      }),
    );
}

function install(client: ClientConfig, name: string, options: Options): void {
  const url = options.url ?? readSettings()('HOLDFAST_URL') ?? DEFAULT_URL;
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : '')) {
    throw new UsageError(`"${url}" is not a server's address; it looks like ${DEFAULT_URL}`);
  }
  const way = { url, http: options.http === true, tools: options.tools };
  const file = options.file ?? client.file;
  const before = `Before you start ${name}: export HOLDFAST_TOKEN=hf_…   (an admin makes one: holdfast token create NAME)`;
  if (!options.write) {
    process.stdout.write(configText(client, way));
    process.stderr.write(`For ${file}; --write puts it there. ${before}\n`);
    return;
  }
  try {
    const merged = mergeConfig(client, readIfThere(file), client.entry(way));
    if (merged !== undefined) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, merged);
    }
    process.stdout.write(merged === undefined ? `${file} has it already.\n` : `Wrote ${file}.\n`);
  } catch (error) {
    throw new Error(`${file} was left as it is: ${(error as Error).message}.`);
  }
  process.stderr.write(`${before}\n`);
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
