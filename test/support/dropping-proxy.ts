import { connect } from 'node:net';
import { onTestFinished } from 'vitest';
import { startTcpProxy } from './tcp-proxy.js';

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
  let dropping = false;
  const proxy = await startTcpProxy(
    () => connect(Number(port), hostname),
    (client, server) => {
      client.on('data', (chunk) => server.write(chunk));
      server.on('data', (chunk) => {
        if (!dropping) client.write(chunk);
      });
    },
  );
  onTestFinished(() => proxy.close());
  return {
    url: `http://127.0.0.1:${proxy.port}`,
    dropReplies: () => {
      dropping = true;
    },
    cut() {
      proxy.cut();
      dropping = false;
    },
  };
}
