import { createHoldfast, type Holdfast } from '@holdfast/client';
import { PrincipalKind } from '@holdfast/proto/history';
import { Role } from '@holdfast/proto/project';
import { type Logger, pino } from 'pino';
import { afterAll } from 'vitest';
import { HOUR, MINUTE } from '../../src/domain/instant.js';
import type { PrincipalKind as Kind, Role as RoleName } from '../../src/domain/principal.js';
import type { Settings } from '../../src/domain/settings.js';
import { createSequencer } from '../../src/feed/sequencer.js';
import { createWaitingRoom } from '../../src/feed/waiting-room.js';
import { createWatchHub, type WatchOptions } from '../../src/feed/watch-hub.js';
import { createWebhookTargets, type TargetPolicy } from '../../src/feed/webhook-targets.js';
import { createAuthenticate } from '../../src/rpc/authenticate.js';
import { authInterceptor } from '../../src/rpc/interceptors/auth.js';
import { errorsInterceptor } from '../../src/rpc/interceptors/errors.js';
import { validateInterceptor } from '../../src/rpc/interceptors/validate.js';
import type { OidcOptions } from '../../src/rpc/oidc.js';
import { NO_QUOTAS, type Quotas } from '../../src/rpc/quotas.js';
import { routes } from '../../src/rpc/routes.js';
import type { ServerLimits } from '../../src/server/limits.js';
import { createHoldfastServer } from '../../src/server.js';
import { startService } from '../../src/service.js';
import type { SignInOptions } from '../../src/sign-in.js';
import { openDatabase } from '../../src/store/database.js';
import { createStore } from '../../src/store/store.js';
import type { Tracing } from '../../src/tracing.js';
import { makeOwner } from './owner.js';
import { createTestDatabase } from './postgres.js';

/** The defaults of `holdfast serve`. */
export const DEFAULT_SETTINGS: Settings = {
  enforcement: 'WARN',
  defaultTtl: 15 * MINUTE,
  maxTtl: 2 * HOUR,
  maxAge: 24 * HOUR,
  maxExpiries: 5,
};

export interface TestServiceOptions {
  /** Instead of {@link DEFAULT_SETTINGS}, one by one. */
  readonly settings?: Partial<Settings>;
  /** False: no expiry timer and no housekeeping, so that nothing happens but what the test asks for. */
  readonly withFeed?: boolean;
  /** A migrated database to share with another service; by default a new one. */
  readonly databaseUrl?: string;
  readonly poolSize?: number;
  /** How open streams are served. */
  readonly watch?: Partial<WatchOptions>;
  readonly limits?: Partial<ServerLimits>;
  /** Where calls are told as spans; stopped with the service. */
  readonly tracing?: Tracing;
  /** Whose tokens are taken beside the service's own. */
  readonly oidc?: OidcOptions;
  /** How much one token may ask for. */
  readonly quotas?: Partial<Quotas>;
  /** Where webhooks may post to; by default anywhere, since tests know nothing but the loopback. */
  readonly webhooks?: TargetPolicy;
  readonly webhookPollMs?: number;
  /** How people get into the dashboard; by default only with a token. */
  readonly signIn?: SignInOptions;
  /** By which names browsers may reach it, beside those of this machine. */
  readonly allowedHosts?: readonly string[];
}

/** A whole Holdfast in this process, on a free port of the loopback. */
export interface TestService {
  readonly url: string;
  readonly databaseUrl: string;
  /** The secret of an owner: admin of every project. Its principal is `owner`. */
  readonly ownerToken: string;
  /** What was logged, as JSON lines. */
  readonly logs: readonly string[];
  /** A client of its own connection, closed with the service. It sends each call once. */
  client(token: string, executionId?: string): Holdfast;
  /**
   * Makes a token in a project, `default` unless another is named.
   *
   * @returns its secret
   */
  token(kind: Kind, role: RoleName, principal: string, project?: string): Promise<string>;
  /** Ends clients and server. The database stays until the end of the test file. May be called twice. */
  stop(): Promise<void>;
}

const running = new Set<TestService>();

afterAll(async () => {
  await Promise.all([...running].map((service) => service.stop()));
});

/** Starts a service. It is stopped at the end of the test file, if the test did not do so before. */
export async function startTestService(options: TestServiceOptions = {}): Promise<TestService> {
  const databaseUrl = options.databaseUrl ?? (await createTestDatabase()).url;
  const defaults = { ...DEFAULT_SETTINGS, ...options.settings };
  const logs: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => logs.push(line) });
  const ownerToken = await makeOwner(databaseUrl, defaults);
  const shared = {
    databaseUrl,
    defaults,
    log,
    poolSize: options.poolSize ?? 16,
    watch: options.watch,
    limits: options.limits ?? {},
    oidc: options.oidc,
    tracing: options.tracing,
    quotas: { ...NO_QUOTAS, ...options.quotas },
    webhooks: options.webhooks ?? { allowPrivate: true },
    webhookPollMs: options.webhookPollMs,
    signIn: options.signIn,
    allowedHosts: options.allowedHosts ?? [],
  };
  const { port, stop: stopServer } = await (options.withFeed === false ? startQuiet : startWhole)(shared);

  const url = `http://127.0.0.1:${port}`;
  const clients: Holdfast[] = [];
  let owner: Holdfast | undefined;
  const service: TestService = {
    url,
    databaseUrl,
    ownerToken,
    logs,
    client(token, executionId) {
      const client = createHoldfast({
        url,
        token,
        attempts: 1,
        ...(executionId !== undefined && { executionId }),
      });
      clients.push(client);
      return client;
    },
    async token(kind, role, principal, project = '') {
      owner ??= service.client(ownerToken);
      const made = await owner.projects.createToken({
        project,
        principal,
        kind: PrincipalKind[kind],
        role: Role[role.toUpperCase() as Uppercase<RoleName>],
      });
      return made.token;
    },
    async stop() {
      running.delete(service);
      for (const client of clients.splice(0)) client.close();
      await stopServer();
    },
  };
  running.add(service);
  return service;
}

interface Parts {
  readonly databaseUrl: string;
  readonly defaults: Settings;
  readonly log: Logger;
  readonly poolSize: number;
  readonly watch: Partial<WatchOptions> | undefined;
  readonly limits: Partial<ServerLimits>;
  readonly oidc: OidcOptions | undefined;
  readonly tracing: Tracing | undefined;
  readonly quotas: Quotas;
  readonly webhooks: TargetPolicy;
  readonly webhookPollMs: number | undefined;
  readonly signIn: SignInOptions | undefined;
  readonly allowedHosts: readonly string[];
}

interface RunningServer {
  readonly port: number;
  stop(): Promise<void>;
}

async function startWhole(parts: Parts): Promise<RunningServer> {
  const service = await startService({ ...parts, host: '127.0.0.1', port: 0 });
  return { port: service.address.port, stop: () => service.stop() };
}

/** The same server and services, but nothing that acts by itself except the sequencer. */
async function startQuiet({
  databaseUrl,
  defaults,
  log,
  poolSize,
  watch,
  webhooks,
}: Parts): Promise<RunningServer> {
  const database = openDatabase({ url: databaseUrl, poolSize });
  const store = createStore(database, defaults, { eventsWritten() {}, tasksReady() {}, deadlineSet() {} });
  const sequencer = createSequencer(store, (job, err) => log.error({ job, err }));
  const waiting = createWaitingRoom(store, (job, err) => log.error({ job, err }));
  const watches = createWatchHub(store, (job, err) => log.error({ job, err }), watch);
  const server = createHoldfastServer({
    routes: routes({ store, sequencer, waiting, watches, targets: createWebhookTargets(webhooks) }),
    interceptors: [errorsInterceptor(log), authInterceptor(createAuthenticate(store)), validateInterceptor],
    ready: async () => ({ ok: true }),
    metrics: async () => ({ contentType: 'text/plain', body: '' }),
    log,
  });
  const { port } = await server.listen('127.0.0.1', 0);
  let stopped: Promise<void> | undefined;
  const stop = async () => {
    await server.drain(1_000);
    await Promise.all([waiting.stop(), watches.stop()]);
    await sequencer.stop();
    await database.close();
  };
  return {
    port,
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}
