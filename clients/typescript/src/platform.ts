import type { Interceptor, Transport } from '@connectrpc/connect';

/** A transport with its connection's end. */
interface OpenTransport {
  transport: Transport;
  /** Closes the connection, and with it every call that is under way. */
  close(): void;
}

/** What differs between Node and browsers: package.json says under `imports` which file is taken where. */
export interface Platform {
  /** Connect to the server at an http(s) address. Nothing is sent before the first call. */
  openTransport(url: string, interceptors: Interceptor[]): OpenTransport;
  /**
   * Calls `beforeEnd` when the process is asked to end and nothing else in the program handles that; the process ends
   * when what it returns is settled. The returned function undoes it.
   */
  beforeProcessEnds(beforeEnd: (signal: string) => Promise<void>): () => void;
}
