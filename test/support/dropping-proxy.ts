import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A TCP proxy in front of a server, whose replies can be made to vanish. */
export interface DroppingProxy {
  readonly url: string;
  /** From now on nothing of what the server says reaches the client; what the client says still arrives. */
  dropReplies(): void;
  /** Cuts the connections there are, and lets replies through on new ones. */
  cut(): void;
}

/** Starts a proxy; it ends with the test. */
export async function startDroppingProxy(serverUrl: string): Promise<DroppingProxy> {
  const { hostname, port } = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let dropping = false;
  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (chunk) => {
        if (from === client || !dropping) to.write(chunk);
      });
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
    dropping = false;
  };
  onTestFinished(() => {
    cut();
    proxy.close();
  });
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    dropReplies: () => {
      dropping = true;
    },
    cut,
  };
}
