import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A way to a server for clients that cannot be given a token: it adds that, and leaves all else as it is. */
export interface TokenProxy {
  readonly url: string;
  close(): void;
}

export async function startTokenProxy(serverUrl: string, token: string): Promise<TokenProxy> {
  const { hostname, port } = new URL(serverUrl);
  const server = createServer((incoming, response) => {
    const { method, url: path, headers } = incoming;
    const forwarded = request({
      hostname,
      port,
      method,
      path,
      headers: { ...headers, authorization: `Bearer ${token}` },
    });
    forwarded.once('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    forwarded.once('error', () => response.destroy());
    response.once('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
