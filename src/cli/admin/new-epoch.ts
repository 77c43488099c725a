import { Command } from 'commander';
import { ConfigError, SETTINGS } from '../../config.js';
import { ExitCode } from '../exit.js';
import type { NewEpochOptions } from './begin-new-epoch.js';

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
    .action(async (options: NewEpochOptions) => {
      try {
        const { newEpoch } = await import('./begin-new-epoch.js');
        await newEpoch(options);
      } catch (error) {
        const { reportFailure } = await import('../failure.js');
        const failure = reportFailure(error, { command: 'admin new-epoch', json: options.json === true });
        process.exitCode = error instanceof ConfigError ? ExitCode.USAGE : failure;
      }
    });
}
