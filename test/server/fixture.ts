import { once } from 'node:events';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { createHoldfastServer, type HoldfastServer, type ServerOptions } from '../../src/server.js';
import { type EchoState, echoRoutes } from './echo-service.js';

export interface RunningServer {
  server: HoldfastServer;
  port: number;
  /** http://127.0.0.1:port, or https. */
  url: string;
  /** Everything the server logged, as JSON lines. */
  logs: string[];
  /** Fulfilled when a Hold call runs. */
  holding: Promise<void>;
  /** Lets Hold calls answer. */
  release: () => void;
}

/** Starts a server with the echo service on a free port; it is stopped when the test ends. */
export async function startServer(options: Partial<ServerOptions> = {}): Promise<RunningServer> {
  const logs: string[] = [];
  const gate = latch();
  const held = latch();
  const state: EchoState = { released: gate.opened, onHold: held.open };
  const server = createHoldfastServer({
    routes: echoRoutes(state),
    ready: async () => ({ ok: true }),
    metrics: async () => ({ contentType: 'text/plain; version=0.0.4', body: 'up 1\n' }),
    log: pino({ level: 'trace' }, { write: (line: string) => logs.push(line) }),
    ...options,
  });
  const { port } = await server.listen('127.0.0.1', 0);
  onTestFinished(async () => {
    gate.open();
    await server.drain(100);
  });
  const url = `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}`;
  return { server, port, url, logs, holding: held.opened, release: gate.open };
}

/** A TCP connection that collects what comes back. */
export async function dial(
  port: number,
): Promise<{ socket: Socket; received: () => string; closed: Promise<void> }> {
  const socket = connectTcp({ port, host: '127.0.0.1', allowHalfOpen: true });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  // A reset counts as closed too; an end from the server is answered by ours.
  socket.on('error', () => {});
  socket.on('end', () => socket.destroy());
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return { socket, received: () => Buffer.concat(chunks).toString('latin1'), closed };
}

/** A cleartext HTTP/2 session, closed when the test ends. */
export async function dialHttp2(url: string): Promise<ClientHttp2Session> {
  const session = connectHttp2(url, { rejectUnauthorized: false });
  session.on('error', () => {});
  onTestFinished(() => session.destroy());
  // Only now is it sure that the server has taken the connection.
  await once(session, 'remoteSettings');
  return session;
}

/** One request over an HTTP/2 session. */
export async function request(
  session: ClientHttp2Session,
  headers: Record<string, string>,
  body = '',
): Promise<{ status: number; headers: Record<string, unknown>; body: string }> {
  const stream = session.request(headers, { endStream: body === '' });
  if (body) stream.end(body);
  const [head] = await once(stream, 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return { status: head[':status'], headers: head, body: Buffer.concat(chunks).toString() };
}

/** Connect over HTTP/1.1: one unary call with a JSON body. */
export async function postJson(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Headers; json: unknown }> {
  const res = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: res.status, headers: res.headers, json: await res.json() };
}

/** A promise that is fulfilled from outside. */
function latch(): { opened: Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
