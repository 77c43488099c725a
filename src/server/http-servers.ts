import { createServer as createHttp1Server, type Server as Http1Server } from 'node:http';
import { createServer as createHttp2Server, type Http2Server, type ServerHttp2Session } from 'node:http2';
import type { HttpRequest, HttpResponse } from './http.js';
import type { ServerLimits } from './limits.js';

/** Milliseconds an idle HTTP/1.1 connection is kept: longer than load balancers keep theirs (60 s is usual). */
const KEEP_ALIVE_MS = 65_000;

type OnRequest = (req: HttpRequest, res: HttpResponse) => void;

/** An HTTP/1.1 server that does not listen: connections are handed to it by its `connection` event. */
export function http1Server(limits: ServerLimits, onRequest: OnRequest): Http1Server {
  const server = createHttp1Server(
    {
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersMs,
      requestTimeout: Math.max(limits.requestMs, limits.headersMs),
      connectionsCheckingInterval: Math.min(limits.headersMs, limits.requestMs) / 4,
    },
    onRequest,
  );
  // Node starts to enforce those timeouts when the server listens, which this one never does.
  server.emit('listening');
  return server;
}

/** An HTTP/2 server that does not listen, and the set of its open sessions. */
export function http2Server(
  limits: ServerLimits,
  onRequest: OnRequest,
): { server: Http2Server; sessions: ReadonlySet<ServerHttp2Session> } {
  const sessions = new Set<ServerHttp2Session>();
  const server = createHttp2Server(
    {
      settings: {
        maxConcurrentStreams: limits.streamsPerConnection,
        maxHeaderListSize: limits.headerBytes,
      },
    },
    onRequest,
  );
  server.on('session', (session) => {
    sessions.add(session);
    const stopPinging = pingUntilDead(session, limits.pingMs);
    session.once('close', () => {
      stopPinging();
      sessions.delete(session);
    });
  });
  return { server, sessions };
}

/** A peer that vanished without a word would otherwise keep its streams open until TCP gives up. */
function pingUntilDead(session: ServerHttp2Session, everyMs: number): () => void {
  let answered = true;
  const timer = setInterval(() => {
    if (session.destroyed) return;
    if (!answered) {
      session.destroy();
      return;
    }
    answered = false;
    session.ping(() => {
      answered = true;
    });
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
