import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { driverTarget } from '../../src/cluster/database-url.js';

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
  const sockets = new Set<Socket>();
  const listening = new Set<Socket>();
  const silent = new Set<Socket>();
  let listeners = 0;
  const proxy = createServer((client) => {
    const server = options.path ? connect(options.path) : connect(Number(target.port), target.hostname);
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
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        sockets.delete(one);
        listening.delete(one);
        other.destroy();
      });
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  const through = new URL(databaseUrl);
  through.searchParams.delete('host');
  through.hostname = '127.0.0.1';
  through.port = String((proxy.address() as AddressInfo).port);
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
