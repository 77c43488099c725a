import { create } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import type { ServiceError } from '@grpc/grpc-js';
import {
  Health,
  HealthCheckRequestSchema,
  type HealthCheckResponse,
  HealthCheckResponse_ServingStatus as Status,
} from '@holdfast/proto/grpc/health/v1/health';
import { expect, test } from 'vitest';
import { postJson, startServer } from './fixture.js';
import { callUnary, grpcClient, grpcMethod } from './grpc-client.js';

const ECHO = 'holdfast.test.v1.EchoService';

test.each(['', ECHO])('Check of %j is SERVING', async (service) => {
  const { port } = await startServer();
  const request = create(HealthCheckRequestSchema, { service });
  expect(await callUnary(grpcClient(port), Health.method.check, request)).toMatchObject({
    status: Status.SERVING,
  });
});

test('Check of an unknown service is NOT_FOUND', async () => {
  const { port } = await startServer();
  const request = create(HealthCheckRequestSchema, { service: 'no.Such' });
  await expect(callUnary(grpcClient(port), Health.method.check, request)).rejects.toMatchObject({ code: 5 });
});

test('Check works as a plain GET', async () => {
  const { url } = await startServer();
  const res = await fetch(`${url}/grpc.health.v1.Health/Check?encoding=json&message=%7B%7D`);
  expect(await res.json()).toEqual({ status: 'SERVING' });
});

test('Check is NOT_SERVING while the server is not ready', async () => {
  const { url } = await startServer({ ready: async () => ({ ok: false, reason: 'migrating' }) });
  expect(await postJson(`${url}/grpc.health.v1.Health/Check`, {})).toMatchObject({
    json: { status: 'NOT_SERVING' },
  });
});

test('Watch tells the status at once, its changes, and the shutdown', async () => {
  let ok = true;
  const { port, server } = await startServer({
    ready: async () => (ok ? { ok } : { ok: false, reason: 'away' }),
  });
  const { path, encode, decode } = grpcMethod(Health.method.watch);
  const watch = grpcClient(port).makeServerStreamRequest(
    path,
    encode,
    decode,
    create(HealthCheckRequestSchema),
  );
  const ended = new Promise<ServiceError>((resolve) => watch.once('error', resolve));
  const next = () =>
    new Promise<Status>((resolve) =>
      watch.once('data', (message: HealthCheckResponse) => resolve(message.status)),
    );
  expect(await next()).toBe(Status.SERVING);
  ok = false;
  expect(await next()).toBe(Status.NOT_SERVING);
  ok = true;
  expect(await next()).toBe(Status.SERVING);
  const last = next();
  await server.drain();
  expect(await last).toBe(Status.NOT_SERVING);
  expect(await ended).toMatchObject({ code: 14 });
});

test('Watch of an unknown service says so and stays open', async () => {
  const { url } = await startServer();
  const client = createClient(Health, createGrpcTransport({ baseUrl: url }));
  const watch = client.watch({ service: 'no.Such' }, { timeoutMs: 1500 })[Symbol.asyncIterator]();
  expect((await watch.next()).value).toMatchObject({ status: Status.SERVICE_UNKNOWN });
  await expect(watch.next()).rejects.toThrow(/deadline_exceeded/);
});
