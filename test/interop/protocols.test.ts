import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient, type Interceptor, type Transport } from '@connectrpc/connect';
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from '@connectrpc/connect-node';
import { credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import {
  FieldViolationSchema,
  WriteCode,
  type WriteRejection,
  WriteRejectionSchema,
} from '@holdfast/proto/guard';
import { LeaseService } from '@holdfast/proto/lease';
import { TaskService } from '@holdfast/proto/task';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { verdictOf } from '../fuzz/answers.js';
import { overHttp2 } from '../fuzz/connection.js';
import { grpcClient, grpcMethod } from '../server/grpc-client.js';
import { startTestService, type TestService } from '../support/service.js';
import { startTlsReplica } from './tls-service.js';

const run = promisify(execFile);

let service: TestService;
let tls: { url: string; port: number; cert: Buffer };
let token: string;
let folder: string;

beforeAll(async () => {
  service = await startTestService({ settings: { enforcement: 'ENFORCE' } });
  tls = await startTlsReplica(service.databaseUrl);
  token = await service.token('AGENT', 'agent', 'ada');
  folder = mkdtempSync(join(tmpdir(), 'holdfast-interop-'));
  writeFileSync(join(folder, 'cert.pem'), tls.cert);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const clearPort = () => Number(new URL(service.url).port);

/** One unary call of grpc-js with the caller's token. */
function overGrpcJs<M extends Parameters<typeof grpcMethod>[0]>(
  client: ReturnType<typeof grpcClient>,
  method: M,
  request: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const { path, encode, decode } = grpcMethod(method);
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${token}`);
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      path,
      encode,
      decode,
      create(method.input, request),
      metadata,
      (error, answer) => {
        if (error) reject(error);
        else resolve(answer as unknown as Record<string, unknown>);
      },
    );
  });
}

/** The WriteRejection in google.rpc.Status, read by hand: status 1, message 2, details 3 of type_url 1, value 2. */
function rejectionIn(error: ServiceError): WriteRejection {
  const [status] = error.metadata.get('grpc-status-details-bin');
  if (!Buffer.isBuffer(status)) throw new Error('the error has no details');
  const name = 'type.googleapis.com/holdfast.v1.WriteRejection';
  const at = status.indexOf(name);
  expect(at).toBeGreaterThan(0);
  const value = status.subarray(at + name.length);
  let [length, shift, start] = [0, 0, 1];
  for (let byte = 0x80; byte & 0x80; shift += 7) {
    byte = value.readUInt8(start++);
    length |= (byte & 0x7f) << shift;
  }
  return fromBinary(WriteRejectionSchema, value.subarray(start, start + length));
}

describe('@grpc/grpc-js, which shares no code with the server', () => {
  it.each(['cleartext', 'TLS'])('acquires, is refused with details, and completes over %s', async (kind) => {
    const secure = kind === 'TLS';
    const client = secure ? grpcClient(tls.port, credentials.createSsl(tls.cert)) : grpcClient(clearPort());
    const executionId = `run over ${kind}`;
    const { createTask, completeTask } = TaskService.method;
    const { task } = await overGrpcJs(client, createTask, { title: kind, executionId });
    const taskId = (task as { id: string }).id;

    const refusal: ServiceError = await overGrpcJs(client, completeTask, { taskId, executionId }).catch(
      (e) => e,
    );
    expect([refusal.code, refusal.details]).toEqual([9, expect.stringContaining('LOCK_REQUIRED')]);
    expect(rejectionIn(refusal)).toMatchObject({
      code: WriteCode.LOCK_REQUIRED,
      taskId,
      fencingToken: 0n,
      advice: expect.stringContaining('Acquire'),
    });

    const { outcome } = await overGrpcJs(client, LeaseService.method.acquireLease, { taskId, executionId });
    const { lease } = (outcome as { value: { lease: { id: string; fencingToken: bigint } } }).value;
    const proof = { leaseId: lease.id, fencingToken: lease.fencingToken };
    const done = await overGrpcJs(client, completeTask, { taskId, executionId, proof, result: '測る' });
    expect(done.task).toMatchObject({ id: taskId, status: 3, result: '測る' });
  });

  it('is told UNAUTHENTICATED without a token', async () => {
    const client = grpcClient(clearPort());
    const { path, encode, decode } = grpcMethod(TaskService.method.listTasks);
    const request = create(TaskService.method.listTasks.input);
    const error = await new Promise<ServiceError | null>((resolve) =>
      client.makeUnaryRequest(path, encode, decode, request, (error) => resolve(error)),
    );
    expect(error?.code).toBe(16);
  });
});

const bearer: Interceptor = (next) => (request) => {
  request.header.set('authorization', `Bearer ${token}`);
  return next(request);
};

const TRANSPORTS: [
  string,
  (options: Parameters<typeof createConnectTransport>[0]) => Transport,
  '1.1' | '2',
][] = [
  ['Connect over HTTP/1.1', createConnectTransport, '1.1'],
  ['Connect over HTTP/2', createConnectTransport, '2'],
  ['gRPC-Web over HTTP/1.1', createGrpcWebTransport, '1.1'],
  ['gRPC-Web over HTTP/2', createGrpcWebTransport, '2'],
  ['gRPC', createGrpcTransport as unknown as typeof createConnectTransport, '2'],
];

describe.each(TRANSPORTS)('%s', (_, transport, httpVersion) => {
  it.each([
    ['cleartext', false, true],
    ['cleartext', false, false],
    ['TLS', true, true],
  ])('works over %s on the same port', async (_, secure, useBinaryFormat) => {
    const { url, cert } = tls;
    const client = createClient(
      TaskService,
      transport({
        baseUrl: secure ? url : service.url,
        httpVersion,
        useBinaryFormat,
        interceptors: [bearer],
        ...(secure && { nodeOptions: { ca: cert } }),
      }),
    );
    const { task } = await client.createTask({ title: 'Größe', executionId: 'run' });
    expect((await client.getTask({ taskId: task?.id ?? '' })).task?.title).toBe('Größe');
    const refusal = await client.addNote({ taskId: task?.id ?? '', text: 'n', executionId: 'run' }).then(
      () => expect.fail('not refused'),
      (error) => ConnectError.from(error),
    );
    expect(refusal.code).toBe(Code.FailedPrecondition);
    expect(refusal.findDetails(WriteRejectionSchema)[0]?.code).toBe(WriteCode.LOCK_REQUIRED);
    const invalid = await client
      .createTask({ title: '', executionId: 'run' })
      .catch((e) => ConnectError.from(e));
    expect((invalid as ConnectError).findDetails(FieldViolationSchema)[0]?.field).toBe('title');
  });
});

describe('fetch', () => {
  const headers = () => ({ authorization: `Bearer ${token}`, 'content-type': 'application/json' });

  it('posts JSON, int64 as decimal text, durations and instants as text', async () => {
    const post = async (rpc: string, body: unknown) => {
      const response = await fetch(`${service.url}/holdfast.v1.${rpc}`, {
        method: 'POST',
        headers: headers(),
        body: JSON.stringify(body),
      });
      // biome-ignore lint/suspicious/noExplicitAny: JSON as it came
      return [response.status, (await response.json()) as any] as const;
    };
    const [, created] = await post('TaskService/CreateTask', { title: 'x', execution_id: 'run' });
    const taskId = created.task.id;
    const [status, acquired] = await post('LeaseService/AcquireLease', {
      taskId,
      executionId: 'run',
      ttl: '90s',
    });
    expect([status, acquired.grant.lease]).toMatchObject([
      200,
      { fencingToken: '1', ttl: '90s', expiresAt: expect.stringMatching(/^\d{4}-.*Z$/) },
    ]);
    const held = await post('LeaseService/AcquireLease', { taskId, executionId: 'another' });
    expect(held).toMatchObject([200, { refusal: { reason: 'REFUSAL_REASON_HELD' } }]);
    expect(await post('TaskService/GetTask', { taskId: 'none' })).toMatchObject([404, { code: 'not_found' }]);
    expect(await post('TaskService/CreateTask', { title: '', executionId: 'run' })).toMatchObject([
      400,
      {
        code: 'invalid_argument',
        details: [{ type: 'holdfast.v1.FieldViolation', debug: { field: 'title' } }],
      },
    ]);
  });

  it('gets what has no side effects, and nothing else', async () => {
    const get = (rpc: string, message: unknown) => {
      const query = new URLSearchParams({
        encoding: 'json',
        message: JSON.stringify(message),
        connect: 'v1',
      });
      return fetch(`${service.url}/holdfast.v1.${rpc}?${query}`, { headers: headers() });
    };
    for (const service of [TaskService, LeaseService]) {
      for (const method of service.methods.filter(({ methodKind }) => methodKind === 'unary')) {
        const response = await get(`${service.name}/${method.name}`, {});
        const reads = /^(Get|List|Check)/.test(method.name);
        expect([method.name, response.status === 405]).toEqual([method.name, !reads]);
      }
    }
    const listed = await get('TaskService/ListTasks', { pageSize: 1 });
    expect([listed.status, Object.keys((await listed.json()) as object)]).toEqual([
      200,
      expect.arrayContaining(['tasks']),
    ]);
  });
});

test('bytes that are no message are the sender’s fault in every protocol', async () => {
  const connection = overHttp2(service.url);
  const frame = (flags: number) => Buffer.from([flags, 0, 0, 0, 2, 0x0a, 0x7f]);
  const path = '/holdfast.v1.TaskService/GetTask';
  for (const [contentType, body] of [
    ['application/proto', Buffer.from([0x0a, 0x7f])],
    ['application/grpc', frame(0)],
    ['application/grpc', frame(1)],
    ['application/grpc-web', frame(0)],
    ['application/json', Buffer.from('{"taskId":')],
  ] as const) {
    const headers = { 'content-type': contentType, te: 'trailers' };
    const answer = await connection.send({ method: 'POST', path, headers, body }, token);
    expect([contentType, verdictOf(answer).code, answer.status < 500]).toEqual([
      contentType,
      'invalid_argument',
      true,
    ]);
  }
  const good = Buffer.from(
    toBinary(TaskService.method.listTasks.input, create(TaskService.method.listTasks.input)),
  );
  const headers = { 'content-type': 'application/proto' };
  const list = { method: 'POST' as const, path: path.replace('GetTask', 'ListTasks'), headers, body: good };
  expect(verdictOf(await connection.send(list, token)).code).toBe('ok');
  connection.close();
});

describe('the curl of the README', () => {
  const curl = async (...args: string[]) => (await run('curl', ['-s', '-S', ...args])).stdout;
  const call = (url: string, rpc: string, body: unknown, ...args: string[]) =>
    curl(
      ...args,
      '-H',
      `authorization: Bearer ${token}`,
      '-H',
      'content-type: application/json',
      '-d',
      JSON.stringify(body),
      `${url}/holdfast.v1.${rpc}`,
    ).then((text) => JSON.parse(text));

  it('creates a task', async () => {
    const answer = await curl(
      '-H',
      `authorization: Bearer ${service.ownerToken}`,
      '-H',
      'content-type: application/json',
      '-d',
      '{"title":"x"}',
      `${service.url}/holdfast.v1.TaskService/CreateTask`,
    );
    expect(JSON.parse(answer)).toMatchObject({ task: { title: 'x', status: 'TASK_STATUS_OPEN' } });
  });

  it.each([
    ['HTTP/1.1', ['--http1.1']],
    ['HTTP/2', ['--http2-prior-knowledge']],
  ])('works a task from its creation to its end over %s', async (_, args) => {
    const url = service.url;
    const { task } = await call(url, 'TaskService/CreateTask', { title: 'y', executionId: 'run' }, ...args);
    const taskId = task.id;
    const { grant } = await call(url, 'LeaseService/AcquireLease', { taskId, executionId: 'run' }, ...args);
    const proof = { leaseId: grant.lease.id, fencingToken: grant.lease.fencingToken };
    const done = { taskId, executionId: 'run', proof, result: 'ok' };
    expect(await call(url, 'TaskService/CompleteTask', done, ...args)).toMatchObject({
      task: { status: 'TASK_STATUS_DONE' },
    });
    const history = await call(url, 'HistoryService/ListHistory', { taskId }, ...args);
    expect(history.events.map(({ kind }: { kind: string }) => kind)).toContain('EVENT_KIND_TASK_COMPLETED');
  });

  it.each(['--http1.1', '--http2'])('works over TLS with %s', async (version) => {
    const args = ['--cacert', join(folder, 'cert.pem'), version];
    expect(await call(tls.url, 'ProjectService/WhoAmI', {}, ...args)).toMatchObject({ principal: 'ada' });
  });
});

describe('buf curl by reflection, without a proto file', () => {
  it.each([
    ['grpc', false],
    ['grpcweb', false],
    ['connect', false],
    ['grpc', true],
    ['connect', true],
  ])('%s, with TLS: %s', async (protocol, secure) => {
    const url = secure ? tls.url : service.url;
    const buf = (data: unknown, rpc: string) =>
      run('node_modules/.bin/buf', [
        'curl',
        '--protocol',
        protocol,
        ...(secure ? ['--cacert', join(folder, 'cert.pem')] : ['--http2-prior-knowledge']),
        '--header',
        `authorization: Bearer ${token}`,
        '--data',
        JSON.stringify(data),
        `${url}/holdfast.v1.${rpc}`,
      ]);
    const { stdout } = await buf({ title: 'by buf', executionId: 'run' }, 'TaskService/CreateTask');
    const { task } = JSON.parse(stdout);
    expect(task.title).toBe('by buf');
    const refusal = await buf({ taskId: task.id, executionId: 'run' }, 'TaskService/CompleteTask').catch(
      (e) => e,
    );
    expect(refusal.code).not.toBe(0);
    expect(refusal.stderr).toMatch(
      /LOCK_REQUIRED: Acquire the task first[\s\S]*holdfast\.v1\.WriteRejection/,
    );
  });
});
