import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// This code runs from src/, from dist/ and, where the bundler puts it, from dist/bundle/: no fixed number of steps up.
function packageFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return folder;
}

/** The path of a file of this package, which is not loaded as a module: `packageFile('dist/dashboard')`. */
export const packageFile = (path: string): string => join(packageFolder(), path);
