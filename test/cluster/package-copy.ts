import { cpSync, lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { embeddedBinaries } from '../../src/cluster/binaries.js';

/** Copies the embedded Postgres below `folder` as npm unpacks it: without symbolic links. Returns its `native`. */
export function copyPackage(folder: string): string {
  const original = dirname(dirname(embeddedBinaries().postgres));
  const copy = join(folder, 'native');
  cpSync(original, copy, { recursive: true, filter: (path) => !lstatSync(path).isSymbolicLink() });
  return copy;
}
