import { setMaxListeners } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Code, ConnectError } from '@connectrpc/connect';
import type { Logger } from 'pino';
import { type Micros, SECOND } from './domain/instant.js';
import type { Settings } from './domain/settings.js';
import { createCommitRelay, startFeed } from './feed/feed.js';
import { createJointReads } from './feed/joint-reads.js';
import type { WatchOptions } from './feed/watch-hub.js';
import { createWebhookTargets, type TargetPolicy } from './feed/webhook-targets.js';
import { mcpEndpoint } from './mcp-endpoint.js';
import { createMetrics } from './metrics.js';
import { createAuthenticate } from './rpc/authenticate.js';
import { voucherOf } from './rpc/certificate-voucher.js';
import { webhookBody } from './rpc/encode/webhook.js';
import { inProcessTransport } from './rpc/in-process.js';
import { authInterceptor } from './rpc/interceptors/auth.js';
import { errorsInterceptor } from './rpc/interceptors/errors.js';
import { quotaInterceptor } from './rpc/interceptors/quotas.js';
import { telemetryInterceptor } from './rpc/interceptors/telemetry.js';
import { traceInterceptor } from './rpc/interceptors/trace.js';
import { validateInterceptor } from './rpc/interceptors/validate.js';
import { createOidc, type OidcOptions } from './rpc/oidc.js';
import { NO_QUOTAS, type Quotas } from './rpc/quotas.js';
import { routes } from './rpc/routes.js';
import { createAdmission } from './rpc/vouched.js';
import { createBrowserCheck } from './server/browser-host.js';
import { dashboardPages } from './server/dashboard.js';
import { pathOf } from './server/http.js';
import { DEFAULT_LIMITS } from './server/limits.js';
import { createHoldfastServer, type ServerOptions } from './server.js';
import { type SignInOptions, signInEndpoint } from './sign-in.js';
import { openDatabase } from './store/database.js';
import { countDeliveries } from './store/deliveries.js';
import { sequencerLag } from './store/history.js';
import { countConnections, countLiveLeases, countTasks } from './store/measures.js';
import { ping } from './store/projects.js';
import { createStore } from './store/store.js';
import type { Tracing } from './tracing.js';

export interface ServiceOptions {
  /** A migrated database. */
  readonly databaseUrl: string;
  readonly poolSize?: number;
  readonly host: string;
  /** 0 for any free one. */
  readonly port: number;
  /** By which names browsers may reach it, beside those of this machine; see {@link createBrowserCheck}. */
  readonly allowedHosts?: readonly string[];
  readonly defaults: Settings;
  /** How long the history is kept, in microseconds; 0 or absent: for ever. */
  readonly historyKeptFor?: Micros;
  /** Where webhooks may post to. */
  readonly webhooks: TargetPolicy;
  /** How often due deliveries are looked for, in milliseconds; tests look more often. */
  readonly webhookPollMs?: number | undefined;
  readonly tls?: NonNullable<ServerOptions['tls']>;
  readonly limits?: NonNullable<ServerOptions['limits']>;
  /** Whose tokens are taken beside this server's own. */
  readonly oidc?: OidcOptions | undefined;
  /** How much one token may ask of this process; by default as much as it likes. */
  readonly quotas?: Quotas;
  /** How people get into the dashboard without a token at hand; by default they do not. */
  readonly signIn?: SignInOptions | undefined;
  /** How open streams are served; tests set some of it short. */
  readonly watch?: Partial<WatchOptions> | undefined;
  readonly log: Logger;
  /** Where each call is told as a span; stopped with the service. */
  readonly tracing?: Tracing | undefined;
}

export interface Service {
  readonly address: AddressInfo;
  /** Drains the server, stops what runs beside it, closes the pool. May be called twice. */
  stop(): Promise<void>;
}

/** How long the feed may take to finish what it is doing when the service stops. */
const FEED_STOP_MS = 500;

/** How long MCP calls may take to be answered when the service stops; their streams would never end by themselves. */
const MCP_STOP_MS = 1_000;

/** A scrape does not wait longer for the database, in milliseconds. */
const SCRAPE_MS = 1_000;

const inTime = <T>(value: Promise<T>): Promise<T> =>
  Promise.race([
    value,
    sleep(SCRAPE_MS, undefined, { ref: false }).then(() => Promise.reject(new Error('the database is slow'))),
  ]);

/** One of each kind: what is not answered yet is not asked again, however many scrape. */
const SCRAPE_READS = 6;

/** Puts one replica together and starts it: pool, feed and server. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { log } = options;
  const database = openDatabase({
    url: options.databaseUrl,
    ...(options.poolSize !== undefined && { poolSize: options.poolSize }),
  });
  const relay = createCommitRelay();
  const store = createStore(database, options.defaults, relay);
  const jointly = createJointReads(SCRAPE_READS);
  const atScrape =
    <T>(kind: string, ask: () => Promise<T>) =>
    () =>
      inTime(jointly(kind, ask));
  const metrics = createMetrics({
    sequencerLag: atScrape('sequencer', async () => (await sequencerLag(store)) / SECOND),
    outboxDepth: atScrape('deliveries', () => countDeliveries(store)),
    liveLeases: atScrape('leases', () => countLiveLeases(store)),
    tasks: atScrape('tasks', () => countTasks(store)),
    connections: atScrape('connections', () => countConnections(store)),
    databaseSeconds: atScrape('ping', async () => {
      const began = performance.now();
      await ping(store);
      return (performance.now() - began) / 1_000;
    }),
  });
  const targets = createWebhookTargets(options.webhooks);
  const feed = startFeed(
    store,
    relay,
    (job, err) => log.warn({ job, err }, 'a background job failed; it goes on'),
    {
      webhooks: {
        targets,
        body: webhookBody,
        onAttempt: (result) => metrics.webhookAttempts.inc({ result }),
        pollMs: options.webhookPollMs,
      },
      watch: options.watch,
      historyKeptFor: options.historyKeptFor,
      onEvent: metrics.happened,
      watchObserver: {
        opened: () => metrics.watches.inc(),
        closed: () => metrics.watches.dec(),
        delivered(events, lagMs) {
          metrics.watchEvents.inc(events);
          if (lagMs !== undefined) metrics.watchLag.observe(lagMs / 1_000);
        },
      },
    },
  );
  const api = routes({ store, targets, ...feed });
  const authenticate = createAuthenticate(store);
  const admit = createAdmission(store, authenticate);
  const readJwt = options.oidc && createOidc(options.oidc);
  const interceptors = [
    traceInterceptor(options.tracing?.tracer),
    telemetryInterceptor(metrics, log),
    errorsInterceptor(log),
    authInterceptor(authenticate, {
      ofCertificate: async (certificate) => admit(voucherOf(certificate)),
      ...(readJwt && { ofJwt: async (jwt: string) => admit(await readJwt(jwt)) }),
    }),
    quotaInterceptor(options.quotas ?? NO_QUOTAS),
    validateInterceptor,
  ];
  const shutdown = new AbortController();
  setMaxListeners(0, shutdown.signal);
  const { allowedHosts = [] } = options;
  const mcp = mcpEndpoint({
    transport: inProcessTransport({ routes: api, interceptors, shutdownSignal: shutdown.signal }),
    stopping: shutdown.signal,
    maxBytes: options.limits?.messageBytes ?? DEFAULT_LIMITS.messageBytes,
    allowedHosts,
    log,
  });
  const refusal = createBrowserCheck({
    listensOn: options.host,
    secure: options.tls !== undefined,
    allowedHosts,
  });
  const signIn = signInEndpoint({ store, authenticate, refusal, log, ...options.signIn });
  const dashboard = dashboardPages();
  const server = createHoldfastServer({
    routes: api,
    interceptors,
    pages: async (request, response) => {
      if (pathOf(request) !== '/mcp') {
        return (await dashboard(request, response)) || signIn(request, response);
      }
      await mcp.handle(request, response);
      return true;
    },
    ready: async () => {
      await ping(store);
      return { ok: true };
    },
    metrics: metrics.render,
    log,
    ...(options.tls && { tls: options.tls }),
    ...(options.limits && { limits: options.limits }),
  });
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= (async () => {
      const drained = server.drain();
      shutdown.abort(new ConnectError('the server is shutting down: try again', Code.Unavailable));
      await Promise.race([drained, sleep(MCP_STOP_MS, undefined, { ref: false })]);
      await mcp.close();
      await drained;
      // A statement of the feed may wait for a lock: closing the pool ends that, too.
      await Promise.race([feed.stop(), sleep(FEED_STOP_MS, undefined, { ref: false })]);
      await database.close();
      await options.tracing?.stop();
    })();
    return stopped;
  };
  try {
    const address = await server.listen(options.host, options.port);
    return { address, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
