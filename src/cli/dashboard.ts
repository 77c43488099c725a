import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { defaultDataDir } from '../default-data-dir.js';
import { makeSignInCode, SIGN_IN_CODE_MS } from '../sign-in-codes.js';
import { reporting } from './command.js';
import { DEFAULT_URL } from './connection.js';
import { UsageError } from './exit.js';
import { readSettings } from './settings.js';

interface Options {
  url?: string;
  data?: string;
  json?: boolean;
}

export function dashboardCommand(): Command {
  return new Command('dashboard')
    .description("Print a link that signs the owner in to the local server's dashboard, once")
    .option('--url <url>', 'where the server is (else HOLDFAST_URL, else http://localhost:7420)')
    .option('--data <folder>', "the server's data folder (else HOLDFAST_DATA)")
    .option('--json', 'print one JSON document, for programs')
    .addHelpText(
      'after',
      `
The link works once, within ${SIGN_IN_CODE_MS / 60_000} minutes, and only at a server that uses this data folder. Elsewhere,
sign in with a token: an admin makes one with \`holdfast token create NAME --role viewer\`.

Example:
  $ holdfast dashboard`,
    )
    .action(reporting(printLink));
}

async function printLink(options: Options): Promise<void> {
  const settings = readSettings();
  const folder = options.data ?? settings('HOLDFAST_DATA') ?? defaultDataDir();
  if (!existsSync(join(folder, 'admin-token'))) {
    throw new UsageError(
      `There is no owner's token in ${folder}, so no server of this machine keeps its data there. Give its data folder with --data.`,
    );
  }
  const url = (options.url ?? settings('HOLDFAST_URL') ?? DEFAULT_URL).replace(/\/$/, '');
  const link = `${url}/#/sign-in/${await makeSignInCode(folder)}`;
  process.stdout.write(options.json ? `${JSON.stringify({ link })}\n` : `${link}\n`);
}
