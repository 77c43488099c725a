import type { Socket } from 'node:net';

/** What every HTTP/2 connection begins with, and no HTTP/1.1 request can. */
const HTTP2_PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** The HTTP version that the first bytes of a connection speak; undefined while they could be either. */
export function httpVersionOf(head: Buffer): 1 | 2 | undefined {
  const length = Math.min(head.length, HTTP2_PREFACE.length);
  if (HTTP2_PREFACE.compare(head, 0, length, 0, length) !== 0) return 1;
  return length === HTTP2_PREFACE.length ? 2 : undefined;
}

/**
 * Waits for the first bytes of a connection, which may arrive one by one, and puts them back as they came.
 * Calls `decided` once, unless the connection ends before; the caller sets the time limit.
 */
export function peekHttpVersion(socket: Socket, decided: (version: 1 | 2) => void): void {
  let head = Buffer.alloc(0);
  const onReadable = () => {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) return;
    head = Buffer.concat([head, chunk]);
    const version = httpVersionOf(head);
    if (version === undefined) return;
    socket.off('readable', onReadable);
    socket.off('end', onEnd);
    // In one piece: Node's HTTP/2 session throws when the first of several makes it give up.
    socket.unshift(head);
    decided(version);
  };
  const onEnd = () => socket.destroy();
  socket.on('readable', onReadable);
  socket.on('end', onEnd);
}
