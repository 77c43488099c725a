import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { destination, pino } from 'pino';
import type { Cluster } from '../../cluster/cluster.js';
import { type Config, defaultSettings, oidcOf } from '../../config.js';
import { ensureOwner } from '../../owner.js';
import { startService } from '../../service.js';
import { makeSignInCode, SIGN_IN_CODE_MS } from '../../sign-in-codes.js';
import { openDatabase } from '../../store/database.js';
import { migrate } from '../../store/migrate.js';
import { createStore } from '../../store/store.js';
import { startTracing } from '../../tracing.js';
import { ExitCode } from '../exit.js';
import { styleFor } from '../style.js';
import { openForUse, readConfig, WORKER_DATABASE } from './database.js';
import { readTls } from './tls.js';

/** What is given on the command line of `holdfast serve`. */
export interface ServeOptions {
  port?: string;
  host?: string;
  data?: string;
  databaseUrl?: string;
  tlsCert?: string;
  tlsKey?: string;
  tlsClientCa?: string;
  workers: number;
  visitors?: boolean;
  json?: boolean;
}

/**
 * Runs the server; resolves when it listens, and from then on it ends with the process.
 *
 * @throws ConfigError when a setting is missing or wrong
 */
export async function serve(options: ServeOptions): Promise<void> {
  const config = readConfig(options);
  const tls = readTls(options);
  const host = config.HOST ?? (tls ? '::' : '127.0.0.1');
  const log = pino({ level: config.LOG_LEVEL }, destination({ fd: 2, sync: true }));
  const tracing = await tracingOf(config);
  const service = (databaseUrl: string) =>
    startService({
      databaseUrl,
      poolSize: config.DATABASE_POOL_SIZE,
      host,
      port: config.PORT,
      allowedHosts: config.HOLDFAST_ALLOWED_HOSTS,
      defaults: defaultSettings(config),
      historyKeptFor: config.HISTORY_RETENTION_DAYS,
      webhooks: { allowPrivate: config.WEBHOOK_ALLOW_PRIVATE },
      oidc: oidcOf(config),
      quotas: {
        requestsPerSecond: config.TOKEN_REQUESTS_PER_SECOND,
        watches: config.TOKEN_WATCHES,
        waiters: config.TOKEN_WAITERS,
      },
      signIn: { dataDir: config.HOLDFAST_DATA, visitors: options.visitors === true },
      log,
      tracing,
      ...(tls && { tls }),
    });

  const given = process.env[WORKER_DATABASE];
  if (cluster.isWorker && given) {
    await runUntilSignalled(() => service(given), { again: 'IGNORE' });
    return;
  }

  const embedded = config.DATABASE_URL === undefined;
  await runUntilSignalled(async () => {
    const { database, url } = await openForUse(config, options.json === true);
    try {
      await migrate({ url });
      const tokenFile = await makeOwner(config, url, embedded);
      const { address, stop } =
        options.workers > 1 ? await startWorkers(options.workers, url) : await service(url);
      // Whoever reads the owner's token may also have a link; nobody else gets one.
      const code = tokenFile && !options.json ? await makeSignInCode(config.HOLDFAST_DATA) : undefined;
      announce({ options, config, address, secure: tls !== undefined, tokenFile, code, database });
      return {
        stop: async () => {
          await stop();
          await database?.stop();
        },
      };
    } catch (error) {
      await database?.stop();
      throw error;
    }
  });
}

function tracingOf({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: share }: Config) {
  return endpoint === undefined ? undefined : startTracing({ endpoint, share });
}

async function makeOwner(config: Config, url: string, embedded: boolean): Promise<string | undefined> {
  const database = openDatabase({ url, poolSize: 2 });
  const silent = { eventsWritten: () => {}, tasksReady: () => {}, deadlineSet: () => {} };
  try {
    return await ensureOwner(
      createStore(database, defaultSettings(config), silent),
      config.HOLDFAST_DATA,
      embedded,
    );
  } finally {
    await database.close();
  }
}

/** Starts worker processes that share one port. One that dies is replaced. */
async function startWorkers(count: number, url: string) {
  let stopping = false;
  const fork = () => cluster.fork({ [WORKER_DATABASE]: url });
  const workers = Array.from({ length: count }, fork);
  let addresses: AddressInfo[];
  try {
    addresses = await Promise.all(workers.map(listening));
  } catch (error) {
    // Those that are still starting have nothing to finish, and would trip over the end of their primary.
    await Promise.all(workers.map((worker) => endWorker(worker, 'SIGKILL')));
    throw error;
  }
  cluster.on('exit', () => {
    if (!stopping) fork();
  });
  const stop = async () => {
    stopping = true;
    const running = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    await Promise.all(running.map((worker) => endWorker(worker, 'SIGTERM')));
  };
  return { address: addresses[0] as AddressInfo, stop };
}

/** Where a worker listens. Rejects when it ends before it does. */
async function listening(worker: Worker): Promise<AddressInfo> {
  const [address] = await Promise.race([
    once(worker, 'listening') as Promise<[AddressInfo]>,
    once(worker, 'exit').then(() => Promise.reject(new Error('A worker could not start; see above.'))),
  ]);
  return address;
}

async function endWorker(worker: Worker, signal: NodeJS.Signals): Promise<void> {
  if (worker.isDead()) return;
  const exited = once(worker, 'exit');
  worker.process.kill(signal);
  await exited;
}

/**
 * Starts something, and ends it and the process in good order on the first signal: one that comes while it starts
 * lets the start finish, so that nothing is left behind. A second signal ends the process at once, unless it is a
 * worker: Ctrl-C reaches a worker twice, by itself and through its primary, and it ends with its primary anyway.
 */
async function runUntilSignalled(
  start: () => Promise<{ stop(): Promise<void> }>,
  { again }: { again: 'EXIT' | 'IGNORE' } = { again: 'EXIT' },
): Promise<void> {
  const started = start();
  let ending = false;
  const end = async () => {
    const running = await started.catch(() => undefined);
    try {
      await running?.stop();
      process.exit(running ? ExitCode.DONE : ExitCode.FAILED);
    } catch (error) {
      process.stderr.write(`error: stopping failed: ${(error as Error).message}\n`);
      process.exit(ExitCode.FAILED);
    }
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (ending && again === 'IGNORE') return;
      if (ending) process.exit(ExitCode.FAILED);
      ending = true;
      void end();
    });
  }
  await started;
}

interface Announcement {
  options: ServeOptions;
  config: Config;
  address: AddressInfo;
  secure: boolean;
  tokenFile: string | undefined;
  /** Signs in to the dashboard, once. */
  code: string | undefined;
  database: Cluster | undefined;
}

function announce({ options, config, address, secure, tokenFile, code, database }: Announcement): void {
  const anyAddress = ['127.0.0.1', '::', '0.0.0.0', '::1'].includes(address.address);
  const name = anyAddress ? 'localhost' : address.address;
  const url = `${secure ? 'https' : 'http'}://${name.includes(':') ? `[${name}]` : name}:${address.port}`;
  if (options.json) {
    process.stdout.write(`${JSON.stringify({ url, tokenFile, databaseUrl: database?.url })}\n`);
    return;
  }
  const style = styleFor(process.stdout);
  const stored = database
    ? `${config.HOLDFAST_DATA} (embedded Postgres ${database.version}${database.attached ? ', shared with another server' : ''})`
    : 'the database of DATABASE_URL';
  const token = tokenFile
    ? `${tokenFile} (yours; the holdfast command finds it by itself)`
    : 'made when this database was first used; `holdfast token create` makes more';
  const elsewhere = url === 'http://localhost:7420' ? '' : `HOLDFAST_URL=${url} `;
  const dashboard = code
    ? `${style.cyan(`${url}/#/sign-in/${code}`)}\n           (signs you in once, within ${SIGN_IN_CODE_MS / 60_000} minutes; \`${elsewhere}holdfast dashboard\` makes another link)`
    : `${style.cyan(`${url}/`)}  (sign in with a token)`;
  process.stdout.write(`
${style.bold('Holdfast is running.')}

  address  ${style.cyan(url)}  (gRPC, gRPC-Web and Connect; /healthz /readyz /metrics)
  watch    ${dashboard}
  data     ${stored}
  token    ${token}

See two agents race for one step:
  ${elsewhere}npx holdfast demo --against ${url}

Turn a checklist into tasks, and connect an agent:
  ${elsewhere}npx holdfast import PLAN.md
  ${elsewhere}npx holdfast token create my-agent --json   # prints its token once
  ${elsewhere}npx holdfast mcp install claude          # or codex, cursor: its configuration
  ${elsewhere}HOLDFAST_TOKEN=hf_… HOLDFAST_EXECUTION_ID=run-1 npx holdfast claim TASK

Stop with Ctrl-C.
`);
}
