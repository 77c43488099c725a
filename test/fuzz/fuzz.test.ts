import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { DescField, DescMessage } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callJson, type ServeProcess, startServe } from '../config/serve-process.js';
import { METHODS, methodOf, NAMES } from '../rpc/methods.js';
import { createTestDatabase } from '../support/postgres.js';
import { type Verdict, verdictOf } from './answers.js';
import { type Connection, overHttp1, overHttp2 } from './connection.js';
import { type WireRequest, wireRequests } from './requests.js';

const REQUESTS = 10_000;
const AT_ONCE = 16;
/** How a decoder's complaints begin. */
const DECODERS_OWN =
  /^(cannot decode|parse binary|protocol error|decompression|received compressed|the request cannot|the deadline|missing|invalid|unexpected|promised)/i;
const seed = Number(process.env.HOLDFAST_TEST_SEED ?? Date.now() & 0x7fffffff);

let server: ServeProcess;
let url: string;
let tokens: string[];
let connections: Connection[];

beforeAll(async () => {
  const database = await createTestDatabase();
  const memory = fileURLToPath(new URL('tell-memory.js', import.meta.url));
  server = startServe({
    args: ['--database-url', database.url],
    env: { LOG_LEVEL: 'error', LOCK_ENFORCEMENT: 'enforce' },
    nodeArgs: ['--expose-gc', '--import', memory],
  });
  ({ url } = await server.ready);
  const owner = server.ownerToken();
  const make = async (principal: string, kind: string, role: string, project = 'default') =>
    (await callJson(url, 'ProjectService/CreateToken', { principal, kind, role, project }, owner)).body
      .token as string;
  await callJson(url, 'ProjectService/CreateProject', { project: dense }, owner);
  tokens = [
    owner,
    await make('ada', 'PRINCIPAL_KIND_AGENT', 'ROLE_AGENT'),
    await make('mia', 'PRINCIPAL_KIND_PERSON', 'ROLE_MEMBER'),
    await make('vic', 'PRINCIPAL_KIND_PERSON', 'ROLE_VIEWER'),
    await make('alma', 'PRINCIPAL_KIND_PERSON', 'ROLE_ADMIN'),
    await make(dense, 'PRINCIPAL_KIND_AGENT', 'ROLE_AGENT', dense),
  ];
  connections = [overHttp2(url), overHttp1(url)];
});

afterAll(() => {
  for (const connection of connections) connection.close();
});

/** The longest name there may be, which nothing can compress. */
const dense = Array.from({ length: 256 }, (_, n) =>
  String.fromCodePoint(0x4e00 + ((n * 7919) % 20_000)),
).join('');

interface Shot {
  readonly rpc: string;
  readonly verdict: Verdict;
  /** Request and answer, for people. */
  readonly shown: string;
}

const ROUND = 1_000;

/** Sends requests of one seed to all RPCs in turn, and tells what came back. */
async function bombard(count: number, seed: number): Promise<Shot[]> {
  const shots: Shot[] = [];
  for (let sent = 0; sent < count; sent += ROUND) shots.push(...(await salvo(ROUND, seed + sent)));
  return shots;
}

async function salvo(count: number, seed: number): Promise<Shot[]> {
  const perRpc = Math.ceil(count / NAMES.length);
  const salvos = NAMES.map((rpc, n) =>
    fc.sample(wireRequests(methodOf(rpc)), { seed: seed + n, numRuns: perRpc }),
  );
  const queue = Array.from({ length: perRpc }, (_, n) => n).flatMap((n) =>
    NAMES.map((rpc, at) => ({ rpc, request: salvos[at]?.[n] as WireRequest })),
  );
  const shots: Shot[] = [];
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < queue.length; at = next++) {
      const { rpc, request } = queue[at] as (typeof queue)[number];
      // gRPC is spoken over HTTP/2 alone.
      const overOne = at % 3 === 0 && !/grpc(?!-web)/.test(request.headers['content-type'] ?? '');
      const connection = connections[overOne ? 1 : 0] as Connection;
      const token = tokens[(at + Math.floor(at / NAMES.length)) % tokens.length] as string;
      const verdict = judged(rpc, verdictOf(await connection.send(request, token)));
      shots.push({ rpc, verdict, shown: shown(rpc, request, verdict) });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return shots;
}

/** A stream that went on until its deadline has found no fault. */
const judged = (rpc: string, verdict: Verdict): Verdict =>
  methodOf(rpc).methodKind !== 'unary' && verdict.code === 'deadline_exceeded'
    ? { ...verdict, code: 'ok' }
    : verdict;

const shown = (rpc: string, { method, headers, path, body }: WireRequest, { code, message }: Verdict) => {
  const [, query = ''] = path.split('?');
  const sent = `${method} ${headers['content-type'] ?? ''} ${query} ${body?.toString().slice(0, 300) ?? ''}`;
  return `${rpc} ${code} ${message.slice(0, 120)} <- ${sent}`;
};

/** What the server uses: memory after a garbage collection, and the time it has worked so far. */
function usage(): Promise<{ memory: NodeJS.MemoryUsage; cpu: NodeJS.CpuUsage }> {
  server.child.send('usage');
  return once(server.child, 'message').then(([usage]) => usage);
}

/** Whether a message has a field at a path such as `tasks[3].labels[0]`. */
function hasField(message: DescMessage, path: string): boolean {
  let here: DescMessage | undefined = message;
  for (const part of path.split('.')) {
    const name = part.replace(/\[\d+\]$/, '');
    const field: DescField | undefined = here?.fields.find((candidate) => candidate.name === name);
    if (!field || (part.endsWith(']') && field.fieldKind !== 'list')) return false;
    here = field.message;
  }
  return true;
}

test(`${REQUESTS} bad requests do no harm (HOLDFAST_TEST_SEED=${seed})`, { timeout: 240_000 }, async () => {
  await bombard(2 * ROUND, seed - 2 * ROUND);
  const before = await usage();

  const shots = await bombard(REQUESTS, seed);
  const after = await usage();

  expect(server.child.exitCode).toBeNull();
  const faults = [
    'internal',
    'unknown',
    'data_loss',
    'unavailable',
    'aborted',
    'deadline_exceeded',
    'canceled',
  ];
  const harmful = shots.filter(
    ({ verdict: { code } }) => faults.includes(code) || /^http 5|^status/.test(code),
  );
  expect(harmful.map(({ shown }) => shown).slice(0, 20)).toEqual([]);
  expect(server.stderr()).toBe('');

  // A refusal of the server's own rules names the field; Connect's own are of bytes that no field can be read from.
  const named = shots.filter(({ verdict }) => verdict.field !== undefined);
  expect(
    named
      .filter(({ rpc, verdict }) => !hasField(methodOf(rpc).input, verdict.field ?? ''))
      .map(({ shown }) => shown),
  ).toEqual([]);
  const unnamed = shots.filter(
    ({ verdict }) =>
      verdict.code === 'invalid_argument' &&
      verdict.field === undefined &&
      !DECODERS_OWN.test(verdict.message),
  );
  expect(unnamed.map(({ shown }) => shown).slice(0, 20)).toEqual([]);

  // The shots hit: every RPC was reached past its decoder, and rules of many fields refused.
  const reached = new Set(
    shots.filter(({ verdict }) => verdict.field || verdict.code === 'ok').map(({ rpc }) => rpc),
  );
  expect(METHODS.size - reached.size).toBeLessThan(6);
  expect(new Set(named.map(({ verdict }) => verdict.field?.replace(/\[\d+\]/g, ''))).size).toBeGreaterThan(
    30,
  );
  expect(named.length).toBeGreaterThan(REQUESTS / 10);

  expect(after.memory.heapUsed - before.memory.heapUsed).toBeLessThan(16 * 1024 * 1024);
  expect(after.memory.rss - before.memory.rss).toBeLessThan(128 * 1024 * 1024);
  const worked = after.cpu.user + after.cpu.system - before.cpu.user - before.cpu.system;
  expect(worked / 1e6).toBeLessThan(60);
  expect(
    await callJson(url, 'TaskService/CreateTask', { title: 'still here' }, server.ownerToken()),
  ).toMatchObject({
    status: 200,
  });
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
});
