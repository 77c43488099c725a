/** Builds the dashboard into dist/dashboard of the server's package, unless what is there is newer than its sources. */
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { isUpToDate } from './up-to-date.js';

const sources = [
  'clients/dashboard/src',
  'clients/dashboard/public',
  'clients/dashboard/index.html',
  'clients/dashboard/vite.config.ts',
  'clients/typescript/dist',
  'gen/ts/src',
  'package-lock.json',
];

if (!isUpToDate('dist/dashboard/index.html', sources)) {
  const configFile = fileURLToPath(new URL('../clients/dashboard/vite.config.ts', import.meta.url));
  await build({ configFile, logLevel: 'error' });
}
