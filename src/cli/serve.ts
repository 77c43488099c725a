import { Command, InvalidArgumentError } from 'commander';
import { ConfigError, SETTINGS } from '../config.js';
import { ExitCode } from './exit.js';
import type { ServeOptions } from './serve/run-server.js';

export function serveCommand(): Command {
  return new Command('serve')
    .description('Run the server: embedded Postgres unless DATABASE_URL is set')
    .option('--port <port>', SETTINGS.PORT.meaning)
    .option('--host <address>', SETTINGS.HOST.meaning)
    .option('--data <folder>', SETTINGS.HOLDFAST_DATA.meaning)
    .option('--database-url <url>', SETTINGS.DATABASE_URL.meaning)
    .option('--tls-cert <file>', 'serve TLS with this certificate chain (PEM)')
    .option('--tls-key <file>', "the certificate's key (PEM)")
    .option(
      '--tls-client-ca <file>',
      'let in only clients with a certificate of this CA (PEM), as whom it names',
    )
    .option('--workers <n>', 'processes that share the port, for more cores', wholeNumber, 1)
    .option('--visitors', 'let whoever opens the dashboard look at the project "default", without a token')
    .option('--json', 'print where it listens as one JSON document, for programs')
    .addHelpText(
      'after',
      `\n${settingsHelp()}\n\nExamples:\n  $ holdfast serve\n  $ DATABASE_URL=postgres://… holdfast serve --port 8443 --tls-cert c.pem --tls-key k.pem`,
    )
    .action(async (options: ServeOptions) => {
      try {
        // The server itself is loaded only to run it.
        const { serve } = await import('./serve/run-server.js');
        await serve(options);
      } catch (error) {
        const { reportFailure } = await import('./failure.js');
        const failure = reportFailure(error, { command: 'serve', json: options.json === true });
        process.exit(error instanceof ConfigError ? ExitCode.USAGE : failure);
      }
    });
}

function wholeNumber(value: string): number {
  const n = Number(value);
  if (!Number.isInteger(n) || n < 1 || n > 64) throw new InvalidArgumentError('It must be 1 to 64.');
  return n;
}

function settingsHelp(): string {
  const lines = Object.entries(SETTINGS).map(([name, { meaning, default: value }]) => {
    return `  ${name.padEnd(26)} ${meaning}${value === undefined ? '' : ` (${value})`}`;
  });
  return `Settings, from the environment or a .env file:\n${lines.join('\n')}`;
}
