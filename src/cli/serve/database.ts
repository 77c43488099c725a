import { type Cluster, openCluster } from '../../cluster/cluster.js';
import { type Config, parseConfig, readEnvironment } from '../../config.js';
import { styleFor } from '../style.js';

/** How a worker is told, by its primary, which database was opened for all of them. */
export const WORKER_DATABASE = 'HOLDFAST_WORKER_DATABASE_URL';

/** The flags that stand for a setting. */
export interface SettingFlags {
  port?: string;
  host?: string;
  data?: string;
  databaseUrl?: string;
}

/**
 * The settings of flags, environment and `.env`; warnings go to stderr.
 *
 * @throws ConfigError
 */
export function readConfig({ port, host, data, databaseUrl }: SettingFlags): Config {
  const environment = readEnvironment();
  delete environment[WORKER_DATABASE];
  const flags = {
    ...(port !== undefined && { PORT: port }),
    ...(host !== undefined && { HOST: host }),
    ...(data !== undefined && { HOLDFAST_DATA: data }),
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
  };
  return parseConfig({ ...environment, ...flags }, (message) => {
    process.stderr.write(`${styleFor(process.stderr).yellow('warning:')} ${message}\n`);
  });
}

/**
 * The database of DATABASE_URL, or else the embedded one, which is started, or attached to when it runs.
 *
 * @param quiet does not tell on stdout what takes time
 * @returns its URL and, of the embedded one, what the caller has to stop
 */
export async function openForUse(
  config: Config,
  quiet: boolean,
): Promise<{ url: string; database?: Cluster }> {
  if (config.DATABASE_URL !== undefined) return { url: config.DATABASE_URL };
  const database = await openCluster({
    dataDir: config.HOLDFAST_DATA,
    onProgress: (line) => {
      if (!quiet) process.stdout.write(`${line}\n`);
    },
  });
  return { url: database.url, database };
}
