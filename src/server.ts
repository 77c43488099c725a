import { once, setMaxListeners } from 'node:events';
import { constants as http2Constants, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Code, ConnectError, type ConnectRouter, type Interceptor } from '@connectrpc/connect';
import type { Logger } from 'pino';
import { registerHealth } from './rpc/health.js';
import { registerReflection } from './rpc/reflection.js';
import { FrontDoor, type TlsOptions } from './server/front-door.js';
import { cutOff, type HttpRequest, type HttpResponse, pathOf } from './server/http.js';
import { http1Server, http2Server } from './server/http-servers.js';
import { DEFAULT_LIMITS, type ServerLimits } from './server/limits.js';
import { createPages, type ExtraPages } from './server/pages.js';
import { type Readiness, ReadinessProbe } from './server/readiness.js';
import { createRpcs, serveRpc } from './server/rpcs.js';

/** What a server is made of. */
export interface ServerOptions {
  /** Registers the API's services. */
  routes: (router: ConnectRouter) => void;
  /** Around the services of `routes`, outermost first. Health and reflection go without. */
  interceptors?: readonly Interceptor[];
  /** Certificate chain and key, and whose clients are let in. Without them the port speaks cleartext. */
  tls?: TlsOptions;
  /** Whether the server can work: its database is reachable and migrated. The reason is public. */
  ready: () => Promise<Readiness>;
  /** The body of GET /metrics. */
  metrics: () => Promise<{ contentType: string; body: string }>;
  /** Further plain HTTP pages, asked when neither an RPC nor a page of the server's own is at the path. */
  pages?: ExtraPages;
  log: Logger;
  limits?: Partial<ServerLimits>;
}

/** A server on one port: gRPC, gRPC-Web and Connect over HTTP/1.1 and HTTP/2, and plain HTTP pages. */
export interface HoldfastServer {
  /**
   * Starts to accept connections.
   * @param port 0 for any free one.
   * @returns where it listens. Rejects with a message for people when the address cannot be had.
   */
  listen(host: string, port: number): Promise<AddressInfo>;
  /**
   * Shuts down: accepts no connection, ends streams with UNAVAILABLE, lets unary calls finish, and cuts
   * what is still open after the deadline. Further calls return the first one's promise.
   * @param deadlineMs milliseconds, by default `limits.drainMs`.
   */
  drain(deadlineMs?: number): Promise<void>;
  /** How many connections are open. */
  readonly connections: number;
}

/** Builds the server; {@link HoldfastServer.listen} starts it. Throws if the TLS certificate is unusable. */
export function createHoldfastServer(options: ServerOptions): HoldfastServer {
  const { log } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const shutdown = new AbortController();
  // Every open call listens to it: many are no leak.
  setMaxListeners(0, shutdown.signal);

  const readiness = new ReadinessProbe(options.ready, limits.readyMs, log);
  const rpcs = createRpcs({
    routes: options.routes,
    interceptors: options.interceptors ?? [],
    open: (router, services) => {
      registerHealth(router, services, readiness);
      registerReflection(router, services);
    },
    shutdownSignal: shutdown.signal,
    limits,
    log,
  });
  const servePage = createPages({ readiness, metrics: options.metrics, extra: options.pages, log });

  const onRequest = (req: HttpRequest, res: HttpResponse): void => {
    req.on('error', (err) => log.debug({ err }, 'a request broke off'));
    res.on('error', (err: Error) => log.debug({ err }, 'a response broke off'));
    const rpc = rpcs.get(pathOf(req));
    if ('stream' in req) {
      const clientStreams = rpc && /client|bidi/.test(rpc.method.methodKind);
      if (!clientStreams) limitUpload(req.stream, limits.requestMs);
      endUploadWithAnswer(req.stream);
    } else {
      if (readiness.draining) res.setHeader('connection', 'close');
      const { socket } = req;
      res.once('close', () => {
        if (readiness.draining) socket.destroySoon();
        // What is left of a refused upload is read and dropped: a paused socket would not notice its end.
        else if (!req.complete) req.resume();
      });
    }
    const served = rpc
      ? serveRpc(rpc, req, res, { limits, shutdownSignal: shutdown.signal, log })
      : servePage(req, res);
    served.catch((err) => {
      log.error({ err, path: pathOf(req) }, 'a request could not be answered');
      cutOff(res);
    });
  };
  const http1 = http1Server(limits, onRequest);
  const http2 = http2Server(limits, onRequest);
  // A TLS handshake may end after the drain began.
  http2.server.on('session', (session) => readiness.draining && session.close());
  const door = new FrontDoor({
    tls: options.tls,
    firstBytesMs: limits.firstBytesMs,
    http1,
    http2: http2.server,
  });

  const shutDown = async (deadlineMs: number): Promise<void> => {
    readiness.drain();
    const closed = door.close();
    shutdown.abort(new ConnectError('the server is shutting down: try again', Code.Unavailable));
    http1.closeIdleConnections();
    for (const session of http2.sessions) session.close();
    const timer = setTimeout(() => {
      log.warn({ connections: door.sockets.size }, 'drain deadline reached: cutting open connections');
      door.destroy();
    }, deadlineMs);
    await closed;
    clearTimeout(timer);
    http1.close();
  };
  let drained: Promise<void> | undefined;

  return {
    async listen(host, port) {
      door.server.listen(port, host);
      try {
        await once(door.server, 'listening');
      } catch (err) {
        throw new Error(`cannot listen on ${host}:${port}: ${reasonOf(err)}`, { cause: err });
      }
      return door.server.address() as AddressInfo;
    },
    drain(deadlineMs = limits.drainMs) {
      drained ??= shutDown(deadlineMs);
      return drained;
    },
    get connections() {
      return door.sockets.size;
    },
  };
}

/** HTTP/1.1 has a timeout for this built in, HTTP/2 has not. */
function limitUpload(stream: ServerHttp2Stream, ms: number): void {
  if (stream.readableEnded) return;
  const timer = setTimeout(() => stream.close(http2Constants.NGHTTP2_CANCEL), ms);
  const stop = () => clearTimeout(timer);
  stream.once('end', stop).once('close', stop);
}

/** A client that goes on sending after it got the whole answer would hold its stream, and a drain, open. */
function endUploadWithAnswer(stream: ServerHttp2Stream): void {
  stream.once('wantTrailers', () => {
    if (stream.readableEnded) return;
    // Node sends the trailers on this very event; the reset must come after them.
    setImmediate(() => stream.close(http2Constants.NGHTTP2_NO_ERROR));
  });
}

function reasonOf(err: unknown): string {
  const { code, message } = err as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE')
    return 'the port is taken. Stop what listens there, or choose another port with PORT or --port';
  if (code === 'EACCES') return 'not allowed. Choose a port above 1023';
  if (code === 'EADDRNOTAVAIL') return 'this machine does not have that address';
  return message;
}
