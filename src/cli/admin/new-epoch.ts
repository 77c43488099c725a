import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Command } from 'commander';
import { type Config, ConfigError, defaultSettings, SETTINGS } from '../../config.js';
import { migrate } from '../../store/migrate.js';
import { beginNewEpoch, type NewEpoch, requireUnused } from '../../store/new-epoch.js';
import { ExitCode, UsageError } from '../exit.js';
import { reportFailure } from '../failure.js';
import { openForUse, readConfig } from '../serve/database.js';
import { styleFor } from '../style.js';
import { details } from '../table.js';
import { counted } from '../text.js';

interface Options {
  data?: string;
  databaseUrl?: string;
  yes?: boolean;
  json?: boolean;
}

export function newEpochCommand(): Command {
  return new Command('new-epoch')
    .description('After restoring a backup: end its leases, and let no token or position be used twice')
    .option('--data <folder>', SETTINGS.HOLDFAST_DATA.meaning)
    .option('--database-url <url>', SETTINGS.DATABASE_URL.meaning)
    .option('--yes', 'do not ask')
    .option('--json', 'print one JSON document, for programs')
    .addHelpText(
      'after',
      '\nStop all servers first, and start them afterwards. It works on the database of DATABASE_URL, or on the\n' +
        'embedded one in the data folder, as `holdfast serve` does.\n' +
        '\nExamples:\n  $ holdfast admin new-epoch\n  $ DATABASE_URL=postgres://… holdfast admin new-epoch --yes',
    )
    .action(async (options: Options) => {
      try {
        await newEpoch(options);
      } catch (error) {
        const failure = reportFailure(error, { command: 'admin new-epoch', json: options.json === true });
        process.exitCode = error instanceof ConfigError ? ExitCode.USAGE : failure;
      }
    });
}

async function newEpoch(options: Options): Promise<void> {
  const config = readConfig(options);
  const where = nameOf(config);
  if (!options.yes && !(await confirmed(where))) {
    process.stderr.write('Nothing was done.\n');
    process.exitCode = ExitCode.REFUSED;
    return;
  }
  const { url, database } = await openForUse(config, true);
  try {
    await requireUnused(url);
    await migrate({ url });
    const done = await beginNewEpoch(url, defaultSettings(config));
    process.stdout.write(`${options.json ? asJson(done) : asText(done, where)}\n`);
  } finally {
    await database?.stop();
  }
}

/** The database, for people: never its URL, which may hold a password. */
function nameOf(config: Config): string {
  if (config.DATABASE_URL !== undefined) return 'the database of DATABASE_URL';
  if (!existsSync(join(config.HOLDFAST_DATA, 'postgres'))) {
    throw new ConfigError(
      `There is no database in ${config.HOLDFAST_DATA}. Name the right folder with --data, or give --database-url.`,
    );
  }
  return `the database in ${config.HOLDFAST_DATA}`;
}

async function confirmed(where: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new UsageError('nobody is there to be asked; give --yes');
  const dialog = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await dialog.question(
      `This ends all leases in ${where}, which is needed after restoring a backup and at no other time. Go on? [y/N] `,
    );
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    dialog.close();
  }
}

function asText(done: NewEpoch, where: string): string {
  const style = styleFor(process.stdout);
  const facts = details(
    [
      ['epoch', `${done.epoch}, before it ${done.previousEpoch}`],
      ['leases', `${done.revoked} revoked; ${done.expired} had run out before, recorded as expired`],
      [
        'tokens',
        `of ${counted(done.tasks, 'task')} and ${counted(done.keys, 'external key')}: from now on above ${done.countersFrom}`,
      ],
      ['positions', `of ${counted(done.projects, 'project')}: from now on above ${done.countersFrom}`],
    ],
    style,
  );
  return `${style.bold(`A new epoch has begun in ${where}.`)}\n\n${facts}\n\nStart the servers now. Who holds a lease from before is told STALE_LOCK; who watches starts anew.`;
}

function asJson({ countersFrom, ...done }: NewEpoch): string {
  return JSON.stringify({ ...done, countersFrom: String(countersFrom) }, null, 2);
}
