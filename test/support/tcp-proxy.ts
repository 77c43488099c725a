import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** A TCP proxy on a free port of the loopback. */
export interface TcpProxy {
  readonly port: number;
  /** Cuts the connections there are. */
  cut(): void;
  /** Cuts them, and takes no more. */
  close(): void;
}

function wireThrough(client: Socket, server: Socket): void {
  client.pipe(server);
  server.pipe(client);
}

/**
 * Starts a proxy. Whichever end of a connection goes takes the other one along.
 *
 * @param reach connects to the server, for each client anew
 * @param wire decides what gets through, from when both ends are there; everything, unless given
 */
export async function startTcpProxy(
  reach: () => Socket,
  wire: (client: Socket, server: Socket) => void = wireThrough,
): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const server = reach();
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
    wire(client, server);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (proxy.address() as AddressInfo).port,
    cut,
    close() {
      proxy.close();
      cut();
    },
  };
}
