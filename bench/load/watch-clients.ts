import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { fromBinary } from '@bufbuild/protobuf';
import { WatchLeasesResponseSchema } from '@holdfast/proto/lease';

/**
 * Many watchers in a process of their own, told what to do by messages: a server under test shares no event loop with
 * its clients.
 */

/** `own`: an HTTP/1.1 connection for each; `http2`: an HTTP/2 connection for each; `shared`: a hundred on each. */
export type Wiring = 'own' | 'http2' | 'shared';

export type Order =
  | {
      readonly do: 'open';
      readonly port: number;
      readonly token: string;
      readonly count: number;
      readonly wiring: Wiring;
    }
  /** One more that never reads what it is sent. */
  | { readonly do: 'openStuck'; readonly port: number; readonly token: string }
  | { readonly do: 'closeStuck' }
  /** Forgets what was measured so far. */
  | { readonly do: 'reset' }
  | { readonly do: 'report' };

/** What the watchers were told since the last reset. */
export interface Report {
  /** Events, counted for each watcher. */
  readonly events: number;
  readonly messages: number;
  /** Milliseconds from the instant in the event, read by the database just before it committed. */
  readonly p50: number;
  readonly p99: number;
}

const PATH = '/holdfast.v1.LeaseService/WatchLeases';
const PER_CONNECTION = 100;
/** An empty request in its envelope. */
const REQUEST = Buffer.alloc(5);

let delays: number[] = [];
let messages = 0;
let open = 0;
let stuck: ClientHttp2Session | undefined;

const now = () => performance.timeOrigin + performance.now();

/** The instants of a message's events, by its last bytes, the resume token: all watchers are sent the same. */
const instants = new Map<string, readonly number[]>();

function instantsIn(message: Buffer): readonly number[] {
  const key = message.toString('latin1', Math.max(0, message.length - 64));
  const known = instants.get(key);
  if (known) return known;
  const decoded = fromBinary(WatchLeasesResponseSchema, message).message;
  const found =
    decoded.case === 'events'
      ? decoded.value.events.map(({ at }) => Number(at?.seconds ?? 0n) * 1_000 + (at?.nanos ?? 0) / 1e6)
      : [];
  instants.set(key, found);
  if (instants.size > 1_000) instants.delete(instants.keys().next().value as string);
  return found;
}

/** Cuts a stream into its messages: one byte of flags, four of the length, then the message. */
function reader(onFirst: () => void): (chunk: Buffer) => void {
  let buffered: Buffer = Buffer.alloc(0);
  let began = false;
  return (chunk) => {
    buffered = buffered.length === 0 ? chunk : Buffer.concat([buffered, chunk]);
    for (let end = 0; buffered.length >= 5; buffered = buffered.subarray(end)) {
      end = 5 + buffered.readUInt32BE(1);
      if (buffered.length < end) break;
      const received = now();
      for (const at of instantsIn(buffered.subarray(5, end))) delays.push(received - at);
      messages++;
      if (!began) onFirst();
      began = true;
    }
  };
}

function overHttp2(session: ClientHttp2Session, token: string, onFirst: (() => void) | undefined): void {
  const stream = session.request({
    ':method': 'POST',
    ':path': PATH,
    'content-type': 'application/grpc+proto',
    te: 'trailers',
    authorization: `Bearer ${token}`,
  });
  stream.on('error', () => {});
  stream.end(REQUEST);
  if (onFirst) stream.on('data', reader(onFirst));
}

function overHttp1(port: number, token: string, onFirst: () => void): void {
  const socket = connectTcp(port, '127.0.0.1').setNoDelay();
  socket.write(
    `POST ${PATH} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/connect+proto\r\nauthorization: Bearer ${token}\r\ncontent-length: ${REQUEST.length}\r\n\r\n`,
  );
  socket.write(REQUEST);
  const read = reader(onFirst);
  let buffered: Buffer = Buffer.alloc(0);
  let inBody = false;
  socket.on('data', (data) => {
    buffered = buffered.length === 0 ? data : Buffer.concat([buffered, data]);
    if (!inBody) {
      const end = buffered.indexOf('\r\n\r\n');
      if (end < 0) return;
      buffered = buffered.subarray(end + 4);
      inBody = true;
    }
    for (;;) {
      const line = buffered.indexOf('\r\n');
      if (line < 0) return;
      const size = Number.parseInt(buffered.toString('latin1', 0, line), 16);
      const end = line + 2 + size + 2;
      if (buffered.length < end) return;
      read(buffered.subarray(line + 2, line + 2 + size));
      buffered = buffered.subarray(end);
    }
  });
}

function http2Session(port: number): ClientHttp2Session {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  session.on('error', () => {});
  return session;
}

async function openAll({ port, token, count, wiring }: Extract<Order, { do: 'open' }>): Promise<void> {
  let session: ClientHttp2Session | undefined;
  for (let i = 0; i < count; i++) {
    await new Promise<void>((resolve) => {
      if (wiring === 'own') overHttp1(port, token, resolve);
      else {
        if (wiring === 'http2' || i % PER_CONNECTION === 0) session = http2Session(port);
        overHttp2(session as ClientHttp2Session, token, resolve);
      }
    });
    open++;
  }
}

function report(): Report {
  delays.sort((a, b) => a - b);
  const at = (share: number) => delays[Math.min(delays.length - 1, Math.floor(delays.length * share))] ?? 0;
  return { events: delays.length, messages, p50: at(0.5), p99: at(0.99) };
}

process.on('message', async (order: Order) => {
  if (order.do === 'open') await openAll(order);
  if (order.do === 'openStuck') {
    stuck = http2Session(order.port);
    overHttp2(stuck, order.token, undefined);
  }
  if (order.do === 'closeStuck') stuck?.destroy();
  if (order.do === 'reset') {
    delays = [];
    messages = 0;
  }
  process.send?.(order.do === 'report' ? report() : { open });
});
