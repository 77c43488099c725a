/** Builds the dashboard into dist/dashboard of the server's package, unless what is there is newer than its sources. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folders = [
  'clients/dashboard/src',
  'clients/dashboard/public',
  'clients/typescript/dist',
  'gen/ts/src',
].flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, name)));
const files = ['clients/dashboard/index.html', 'clients/dashboard/vite.config.ts', 'package-lock.json'];

const changedAt = (path) => statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;

if (Math.max(...[...folders, ...files].map(changedAt)) > changedAt('dist/dashboard/index.html')) {
  await build({ configFile: join(root, 'clients/dashboard/vite.config.ts'), logLevel: 'error' });
}
