import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { create, fromBinary, type MessageInitShape } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import {
  ServerReflection,
  ServerReflectionRequestSchema,
} from '@holdfast/proto/grpc/reflection/v1/reflection';
import { ServerReflection as ServerReflectionAlpha } from '@holdfast/proto/grpc/reflection/v1alpha/reflection';
import { expect, test } from 'vitest';
import { startServer } from './fixture.js';

const run = promisify(execFile);

type Question = MessageInitShape<typeof ServerReflectionRequestSchema>['messageRequest'];

/** Asks all questions on one stream; file descriptors are answered by their names. */
async function ask(url: string, ...questions: NonNullable<Question>[]) {
  const client = createClient(ServerReflection, createGrpcTransport({ baseUrl: url }));
  async function* requests() {
    for (const messageRequest of questions)
      yield create(ServerReflectionRequestSchema, { host: 'h', messageRequest });
  }
  const answers: unknown[] = [];
  for await (const { validHost, originalRequest, messageResponse } of client.serverReflectionInfo(
    requests(),
  )) {
    expect([validHost, originalRequest?.messageRequest.case]).toEqual(['h', questions[answers.length]?.case]);
    if (messageResponse.case === 'fileDescriptorResponse') {
      const files = messageResponse.value.fileDescriptorProto;
      answers.push(files.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes).name));
    } else if (messageResponse.case === 'listServicesResponse') {
      answers.push(messageResponse.value.service.map((service) => service.name));
    } else if (messageResponse.case === 'errorResponse') {
      answers.push(messageResponse.value.errorCode);
    } else {
      answers.push(messageResponse.value);
    }
  }
  return answers;
}

const ECHO_FILES = ['holdfast/test/v1/echo.proto', 'google/protobuf/wrappers.proto'];
const SERVICES = [
  'holdfast.test.v1.EchoService',
  'grpc.health.v1.Health',
  'grpc.reflection.v1.ServerReflection',
  'grpc.reflection.v1alpha.ServerReflection',
];

test('services are listed', async () => {
  const { url } = await startServer();
  expect(await ask(url, { case: 'listServices', value: '' })).toEqual([SERVICES]);
});

test.each([
  'holdfast.test.v1.EchoService',
  'holdfast.test.v1.EchoService.Echo',
  'holdfast.test.v1.Outer',
  'holdfast.test.v1.Outer.Inner',
  'holdfast.test.v1.Outer.label',
  'holdfast.test.v1.Outer.choice',
  'holdfast.test.v1.Mood',
  'holdfast.test.v1.MOOD_UNSPECIFIED',
])('the file of the symbol %s comes with what it imports', async (value) => {
  const { url } = await startServer();
  expect(await ask(url, { case: 'fileContainingSymbol', value })).toEqual([ECHO_FILES]);
});

test('files are found by name, imports too, and imports are sent once a stream', async () => {
  const { url } = await startServer();
  const answers = await ask(
    url,
    { case: 'fileByFilename', value: 'google/protobuf/wrappers.proto' },
    { case: 'fileByFilename', value: 'holdfast/test/v1/echo.proto' },
    { case: 'fileByFilename', value: 'holdfast/test/v1/echo.proto' },
  );
  expect(answers).toEqual([[ECHO_FILES[1]], [ECHO_FILES[0]], [ECHO_FILES[0]]]);
});

test('what is not there is an answer, and the stream goes on', async () => {
  const { url } = await startServer();
  const answers = await ask(
    url,
    { case: 'fileByFilename', value: 'nope.proto' },
    { case: 'fileContainingSymbol', value: 'holdfast.test.v1' },
    { case: 'fileContainingSymbol', value: 'constructor' },
    {
      case: 'fileContainingExtension',
      value: { containingType: 'holdfast.test.v1.Outer', extensionNumber: 1 },
    },
    { case: 'allExtensionNumbersOfType', value: 'no.Such' },
    { case: 'allExtensionNumbersOfType', value: 'holdfast.test.v1.Outer' },
    { case: undefined },
    { case: 'listServices', value: '' },
  );
  expect(answers.slice(0, 5)).toEqual([5, 5, 5, 5, 5]);
  expect(answers[5]).toMatchObject({ baseTypeName: 'holdfast.test.v1.Outer', extensionNumber: [] });
  expect(answers.slice(6)).toEqual([3, SERVICES]);
});

test('v1alpha says the same', async () => {
  const { url } = await startServer();
  const client = createClient(ServerReflectionAlpha, createGrpcTransport({ baseUrl: url }));
  async function* requests() {
    yield { messageRequest: { case: 'listServices' as const, value: '' } };
  }
  for await (const { messageResponse } of client.serverReflectionInfo(requests())) {
    expect(messageResponse).toMatchObject({ value: { service: SERVICES.map((name) => ({ name })) } });
  }
});

test('buf curl needs no proto files', async () => {
  const { url } = await startServer();
  const curl = async (...args: string[]) =>
    (await run('node_modules/.bin/buf', ['curl', '--protocol', 'grpc', '--http2-prior-knowledge', ...args]))
      .stdout;
  expect((await curl('--list-services', url)).trim().split('\n').sort()).toEqual([...SERVICES].sort());
  const health = await curl('--data', '{}', `${url}/grpc.health.v1.Health/Check`);
  expect(JSON.parse(health)).toEqual({ status: 'SERVING' });
  const echo = await curl('--data', '"hi"', `${url}/holdfast.test.v1.EchoService/Echo`);
  expect(JSON.parse(echo)).toBe('hi');
});
