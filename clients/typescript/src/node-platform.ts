import type { Interceptor, Transport } from '@connectrpc/connect';
import { createConnectTransport, Http2SessionManager } from '@connectrpc/connect-node';

/** A transport with its connection's end. */
export interface OpenTransport {
  transport: Transport;
  /** Closes the connection, and with it every call that is under way. */
  close(): void;
}

/** Connect over one HTTP/2 connection, opened at the first call and again when it broke. */
export function openNodeTransport(url: string, interceptors: Interceptor[]): OpenTransport {
  // A half-open connection is noticed by unanswered pings; without them a call would hang until its timeout.
  const sessionManager = new Http2SessionManager(url, { pingIntervalMs: 10_000, pingTimeoutMs: 5_000 });
  const transport = createConnectTransport({
    baseUrl: url,
    httpVersion: '2',
    sessionManager,
    interceptors,
    defaultTimeoutMs: 60_000,
  });
  return { transport, close: () => sessionManager.abort() };
}
