import { create } from '@bufbuild/protobuf';
import { Metadata, type ServiceError } from '@grpc/grpc-js';
import { EventKind } from '@holdfast/proto/history';
import { LeaseService, type WatchLeasesResponse } from '@holdfast/proto/lease';
import { beforeAll, expect, test } from 'vitest';
import { type Board, hold, startBoard } from '../rpc/board.js';
import { grpcClient, grpcMethod } from '../server/grpc-client.js';
import { framesOf } from '../support/frames.js';

let board: Board;
beforeAll(async () => {
  board = await startBoard();
});

type Told = WatchLeasesResponse['message'];

test('@grpc/grpc-js watches over gRPC, resumes, and is told its end with details', async () => {
  const client = grpcClient(Number(new URL(board.service.url).port));
  const method = LeaseService.method.watchLeases;
  const { path, encode, decode } = grpcMethod(method);
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${board.viewer.token}`);
  const watch = (resumeAfter = '') => {
    const request = create(method.input, { resumeAfter });
    const stream = client.makeServerStreamRequest(path, encode, decode, request, metadata);
    const told: Told[] = [];
    stream.on('data', ({ message }: WatchLeasesResponse) => told.push(message));
    const ended = new Promise<ServiceError>((resolve) => stream.once('error', resolve));
    return { stream, told, ended };
  };
  const eventsOf = (told: readonly Told[]) =>
    told.flatMap((message) => (message.case === 'events' ? message.value.events : []));

  const { id } = await board.task('over gRPC');
  const proof = await hold(board.agent, id);
  const first = watch();
  await expect.poll(() => first.told.map((message) => message.case)).toEqual(['snapshot', 'synced']);
  await board.agent.leases.renewLease(proof);
  await expect.poll(() => first.told.at(-1)?.case, { timeout: 5_000 }).toBe('leaseState');
  await board.agent.tasks.completeTask({ taskId: id, executionId: 'ada-run', proof, result: '測る' });
  await expect
    .poll(() => eventsOf(first.told).map(({ kind }) => EventKind[kind]))
    .toEqual(['TASK_COMPLETED', 'LEASE_RELEASED']);
  expect(eventsOf(first.told)[0]).toMatchObject({
    taskId: id,
    actor: 'ada',
    payload: { case: 'taskCompleted', value: { result: '測る' } },
  });
  first.stream.cancel();
  expect((await first.ended).code).toBe(1);

  const synced = first.told.find((message) => message.case === 'synced');
  const resumed = watch(synced?.value?.resumeToken);
  await expect.poll(() => eventsOf(resumed.told)).toEqual(eventsOf(first.told));
  expect(resumed.told[0]?.case).toBe('checkpoint');
  resumed.stream.cancel();

  const refused = await watch('garbage').ended;
  expect([refused.code, refused.details]).toEqual([3, expect.stringContaining('resume_after')]);
  expect(refused.metadata.get('grpc-status-details-bin')).toHaveLength(1);
});

test('fetch watches over Connect streaming on HTTP/1.1: five bytes of head, then JSON', async () => {
  const abort = new AbortController();
  const body = Buffer.from('{"kinds": ["EVENT_KIND_TASK_CREATED"]}');
  const head = Buffer.alloc(5);
  head.writeUInt32BE(body.length, 1);
  const response = await fetch(`${board.service.url}/holdfast.v1.LeaseService/WatchLeases`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${board.viewer.token}`,
      'content-type': 'application/connect+json',
      'connect-protocol-version': '1',
    },
    body: Buffer.concat([head, body]),
    signal: abort.signal,
  });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/connect+json']);
  expect(response.headers.get('connect-content-encoding')).toBeNull();

  // biome-ignore lint/suspicious/noExplicitAny: JSON as it came
  const messages: any[] = [];
  const reading = (async () => {
    const chunks = response.body as unknown as AsyncIterable<Uint8Array>;
    for await (const { data } of framesOf(chunks)) messages.push(JSON.parse(data.toString()));
  })();
  await expect.poll(() => messages.length).toBeGreaterThan(0);
  expect(messages.at(-1)).toEqual({ synced: { resumeToken: expect.any(String) } });
  const { id } = await board.task('over HTTP/1.1');
  await expect
    .poll(() => messages.at(-1).events)
    .toMatchObject({
      events: [
        {
          position: expect.stringMatching(/^\d+$/),
          kind: 'EVENT_KIND_TASK_CREATED',
          taskId: id,
          taskCreated: { title: 'over HTTP/1.1' },
        },
      ],
      resumeToken: expect.any(String),
    });
  abort.abort();
  await expect(reading).rejects.toThrow();
});
