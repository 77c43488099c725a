import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { type Config, ConfigError, defaultSettings } from '../../config.js';
import { migrate } from '../../store/migrate.js';
import { beginNewEpoch, type NewEpoch, requireUnused } from '../../store/new-epoch.js';
import { ExitCode, UsageError } from '../exit.js';
import { openForUse, readConfig } from '../serve/database.js';
import { styleFor } from '../style.js';
import { details } from '../table.js';
import { counted } from '../text.js';

/** What is given on the command line of `holdfast admin new-epoch`. */
export interface NewEpochOptions {
  data?: string;
  databaseUrl?: string;
  yes?: boolean;
  json?: boolean;
}

/**
 * Begins a new epoch of the database, once that is confirmed, and prints what that did.
 *
 * @throws ConfigError, or a UsageError when nobody can be asked
 */
export async function newEpoch(options: NewEpochOptions): Promise<void> {
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
