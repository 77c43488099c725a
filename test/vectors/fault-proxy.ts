import { connect } from 'node:net';
import { startTcpProxy } from '../support/tcp-proxy.js';

/** A TCP proxy in front of a server that may move, whose answers can be made to vanish. */
export interface FaultProxy {
  readonly url: string;
  /** New connections go to this port of the loopback; the ones there are, are cut. */
  moveTo(port: number): void;
  /** The next answer is swallowed, and its connection cut: what it answers was done. */
  loseNextAnswer(): void;
  /** From now on nothing that the server says arrives, on old and new connections: half-open. */
  silence(): void;
  /** Cuts the connections there are, and lets everything through again. */
  heal(): void;
  close(): void;
}

/** Starts a proxy on a free port of the loopback. */
export async function startFaultProxy(serverPort: number): Promise<FaultProxy> {
  let port = serverPort;
  let silent = false;
  let losing = false;
  const proxy = await startTcpProxy(
    () => connect(port, '127.0.0.1'),
    (client, server) => {
      const answers = new AnswerFinder();
      for (const socket of [client, server]) socket.setNoDelay(true);
      client.on('data', (chunk) => server.write(chunk));
      server.on('data', (chunk) => {
        const answered = answers.beginsIn(chunk);
        if (silent) return;
        if (losing && answered) {
          losing = false;
          client.destroy();
          return;
        }
        client.write(chunk);
      });
    },
  );
  return {
    url: `http://127.0.0.1:${proxy.port}`,
    moveTo(to) {
      port = to;
      proxy.cut();
    },
    loseNextAnswer() {
      losing = true;
    },
    silence() {
      silent = true;
    },
    heal() {
      silent = false;
      losing = false;
      proxy.cut();
    },
    close: () => proxy.close(),
  };
}

const FRAME_HEADER_BYTES = 9;
const HEADERS = 1;

/** Finds where answers begin in what a server says: by HTTP/2's frames, since it also says much that is no answer. */
class AnswerFinder {
  #protocol: 'unknown' | '1' | '2' = 'unknown';
  #header = Buffer.alloc(0);
  #payloadLeft = 0;

  beginsIn(chunk: Buffer): boolean {
    if (this.#protocol === 'unknown')
      this.#protocol = chunk.subarray(0, 5).equals(Buffer.from('HTTP/')) ? '1' : '2';
    if (this.#protocol === '1') return true;
    let found = false;
    let rest = chunk;
    while (rest.length > 0) {
      const skipped = Math.min(this.#payloadLeft, rest.length);
      this.#payloadLeft -= skipped;
      rest = rest.subarray(skipped);
      const missing = FRAME_HEADER_BYTES - this.#header.length;
      this.#header = Buffer.concat([this.#header, rest.subarray(0, missing)]);
      rest = rest.subarray(missing);
      if (this.#header.length < FRAME_HEADER_BYTES) break;
      this.#payloadLeft = this.#header.readUIntBE(0, 3);
      found ||= this.#header[3] === HEADERS;
      this.#header = Buffer.alloc(0);
    }
    return found;
  }
}
