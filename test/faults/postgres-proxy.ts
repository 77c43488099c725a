import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { driverTarget } from '../../src/cluster/database-url.js';
import { startTcpProxy } from '../support/tcp-proxy.js';

/** A TCP proxy in front of Postgres that knows which connections listen for notifications. */
export interface PostgresProxy {
  /** The database, through the proxy. */
  readonly databaseUrl: string;
  /** How many connections have listened so far. */
  readonly listeners: number;
  /** The connections that listen now stay open, but nothing gets through them any more, either way. */
  silenceListeners(): void;
}

/** Starts a proxy; it ends with the test. */
export async function startPostgresProxy(databaseUrl: string): Promise<PostgresProxy> {
  const { url, options } = driverTarget(databaseUrl);
  const target = new URL(url);
  const listening = new Set<Socket>();
  const silent = new Set<Socket>();
  let listeners = 0;
  const proxy = await startTcpProxy(
    () => (options.path ? connect(options.path) : connect(Number(target.port), target.hostname)),
    (client, server) => {
      client.on('data', (chunk) => {
        if (chunk.includes('LISTEN') && !listening.has(client)) {
          listening.add(client);
          listeners++;
        }
        if (!silent.has(client)) server.write(chunk);
      });
      server.on('data', (chunk) => {
        if (!silent.has(client)) client.write(chunk);
      });
      client.on('close', () => listening.delete(client));
    },
  );
  onTestFinished(() => proxy.close());
  const through = new URL(databaseUrl);
  through.searchParams.delete('host');
  through.hostname = '127.0.0.1';
  through.port = String(proxy.port);
  return {
    databaseUrl: through.href,
    get listeners() {
      return listeners;
    },
    silenceListeners() {
      for (const client of listening) silent.add(client);
    },
  };
}
