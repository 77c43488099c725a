import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const options = { throwIfNoEntry: false };

/** When the newest of these files and of what is in these folders, named from the package's root, was changed. */
const newest = (paths) =>
  Math.max(
    ...paths
      .flatMap((path) => {
        const folder = statSync(join(root, path), options)?.isDirectory();
        return folder
          ? [path, ...readdirSync(join(root, path), { recursive: true }).map((name) => join(path, name))]
          : path;
      })
      .map((path) => statSync(join(root, path), options)?.mtimeMs ?? 0),
  );

/** Whether what was built, told by one of its files, is newer than all that it is made of. */
export const isUpToDate = (built, sources) => newest([built]) >= newest(sources);
