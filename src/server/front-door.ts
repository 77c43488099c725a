import { once } from 'node:events';
import type { Server as Http1Server } from 'node:http';
import type { Http2Server } from 'node:http2';
import { createServer as createNetServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket, type Server as TlsServer } from 'node:tls';
import { peekHttpVersion } from './preface.js';

/** PEM, all of it. */
export interface TlsOptions {
  cert: Buffer;
  key: Buffer;
  /** Only clients with a certificate of this CA are let in. */
  clientCa?: Buffer;
}

/** What {@link FrontDoor} is built from. */
export interface FrontDoorOptions {
  /** Without it the port speaks cleartext. */
  tls: TlsOptions | undefined;
  /** Milliseconds a connection has until it is clear what it speaks. */
  firstBytesMs: number;
  http1: Http1Server;
  http2: Http2Server;
}

const TCP = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 };

/**
 * The one listening server. It hands each connection to `http1` or `http2`: by ALPN under TLS, by its first
 * bytes otherwise.
 */
export class FrontDoor {
  readonly server: Server;
  /** Every open connection, in whatever state. */
  readonly sockets = new Set<Socket>();
  readonly #undecided = new Set<Socket>();

  constructor(private readonly options: FrontDoorOptions) {
    this.server = options.tls ? this.#tlsServer(options.tls) : this.#plainServer();
    this.server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
      survive(socket);
    });
  }

  /** Accepts nobody any more and turns away who has not said yet what they speak. Waits for the others. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    for (const socket of this.#undecided) socket.destroy();
    await closed;
    for (const socket of this.sockets) await once(socket, 'close');
  }

  /** Cuts every connection. */
  destroy(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  #plainServer(): Server {
    return createNetServer({ ...TCP, allowHalfOpen: true }, (socket) => {
      const timer = setTimeout(() => socket.destroy(), this.options.firstBytesMs);
      const decide = () => {
        clearTimeout(timer);
        this.#undecided.delete(socket);
      };
      this.#undecided.add(socket);
      socket.once('close', decide);
      peekHttpVersion(socket, (version) => {
        decide();
        this.#handOver(version, socket);
      });
    });
  }

  #tlsServer({ cert, key, clientCa }: TlsOptions): Server {
    const settings = {
      ...TCP,
      cert,
      key,
      ALPNProtocols: ['h2', 'http/1.1'],
      handshakeTimeout: this.options.firstBytesMs,
      ...(clientCa && { ca: clientCa, requestCert: true, rejectUnauthorized: true }),
    };
    let server: TlsServer;
    try {
      server = createTlsServer(settings);
    } catch (err) {
      throw new Error(`the TLS certificate or key cannot be used: ${(err as Error).message}`, { cause: err });
    }
    // Node reports a handshake that failed or took too long, but leaves the connection open.
    server.on('tlsClientError', (_err, socket) => socket.destroy());
    return server.on('secureConnection', (socket: TLSSocket) => {
      survive(socket);
      this.#handOver(socket.alpnProtocol === 'h2' ? 2 : 1, socket);
    });
  }

  #handOver(version: 1 | 2, socket: Socket): void {
    // HTTP/1.1 may be answered after the client closed its side; an HTTP/2 session ends with it.
    if (version === 2) socket.allowHalfOpen = false;
    const { http1, http2 } = this.options;
    (version === 2 ? http2 : http1).emit('connection', socket);
  }
}

/** A peer that resets its connection is no error of ours. */
function survive(socket: Socket): void {
  socket.on('error', () => {});
}
