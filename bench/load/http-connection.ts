import { connect, type Socket } from 'node:net';

/**
 * One keep-alive HTTP/1.1 connection that speaks Connect JSON, one call at a time. A full HTTP client would cost
 * more than the server under test, on the same two cores.
 */
export class HttpConnection {
  readonly #socket: Socket;
  #received = Buffer.alloc(0);
  #waiting: { resolve: (body: string) => void; reject: (error: Error) => void } | undefined;

  constructor(port: number) {
    this.#socket = connect(port, '127.0.0.1').setNoDelay();
    this.#socket.on('data', (chunk) => {
      this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
      this.#deliver();
    });
    this.#socket.on('error', (error) => this.#waiting?.reject(error));
    this.#socket.on('close', () => this.#waiting?.reject(new Error('the server closed the connection')));
  }

  /** Calls `package.Service/Method` and gives the answer's JSON. Rejects when the status is not 200. */
  call<T>(rpc: string, request: object, token?: string): Promise<T> {
    const body = JSON.stringify(request);
    const auth = token === undefined ? '' : `authorization: Bearer ${token}\r\n`;
    return new Promise<string>((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(
        `POST /${rpc} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${auth}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
    }).then((text) => JSON.parse(text) as T);
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #deliver(): void {
    const end = this.#received.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = this.#received.toString('latin1', 0, end);
    const length = /content-length: (\d+)/i.exec(head)?.[1];
    const body = length === undefined ? this.#chunked(end + 4) : this.#sized(end + 4, Number(length));
    if (body === undefined) return;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (head.startsWith('HTTP/1.1 200')) waiting?.resolve(body);
    else waiting?.reject(new Error(`${head.slice(0, 40)}: ${body}`));
  }

  #sized(start: number, length: number): string | undefined {
    if (this.#received.length < start + length) return undefined;
    const body = this.#received.toString('utf8', start, start + length);
    this.#received = this.#received.subarray(start + length);
    return body;
  }

  #chunked(start: number): string | undefined {
    let at = start;
    let body = '';
    for (;;) {
      const lineEnd = this.#received.indexOf('\r\n', at);
      if (lineEnd < 0) return undefined;
      const size = Number.parseInt(this.#received.toString('latin1', at, lineEnd), 16);
      const next = lineEnd + 2 + size + 2;
      if (this.#received.length < next) return undefined;
      body += this.#received.toString('utf8', lineEnd + 2, lineEnd + 2 + size);
      at = next;
      if (size === 0) break;
    }
    this.#received = this.#received.subarray(at);
    return body;
  }
}
