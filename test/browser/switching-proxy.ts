import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A TCP proxy with an address that stays while the servers behind it come and go. */
export interface SwitchingProxy {
  readonly url: string;
  /** From now on, new connections go to this server. */
  switchTo(serverUrl: string): void;
}

/** Starts a proxy; it ends with the test. */
export async function startSwitchingProxy(serverUrl: string): Promise<SwitchingProxy> {
  let target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const server = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    switchTo(serverUrl) {
      target = new URL(serverUrl);
    },
  };
}
