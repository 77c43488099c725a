import { type DescFile, type DescService, toBinary } from '@bufbuild/protobuf';
import { nestedTypes } from '@bufbuild/protobuf/reflect';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { Code, type ConnectRouter } from '@connectrpc/connect';
import { Health } from '@holdfast/proto/grpc/health/v1/health';
import {
  ServerReflection,
  type ServerReflectionRequest,
} from '@holdfast/proto/grpc/reflection/v1/reflection';
import {
  ServerReflection as ServerReflectionAlpha,
  type ServerReflectionRequest as ServerReflectionRequestAlpha,
} from '@holdfast/proto/grpc/reflection/v1alpha/reflection';

/** The two versions ask the same questions. */
type Request = ServerReflectionRequest | ServerReflectionRequestAlpha;
type Question = Request['messageRequest'];

type Answer =
  | { case: 'fileDescriptorResponse'; value: { fileDescriptorProto: Uint8Array[] } }
  | { case: 'allExtensionNumbersResponse'; value: { baseTypeName: string; extensionNumber: number[] } }
  | { case: 'listServicesResponse'; value: { service: { name: string }[] } }
  | { case: 'errorResponse'; value: { errorCode: number; errorMessage: string } };

/** Registers gRPC's server reflection, v1 and v1alpha, for `services`, health and itself. */
export function registerReflection(router: ConnectRouter, services: readonly DescService[]): void {
  const index = new DescriptorIndex([...services, Health, ServerReflection, ServerReflectionAlpha]);
  router.service(ServerReflection, {
    serverReflectionInfo: (requests, { signal }) => answers(index, requests, signal),
  });
  router.service(ServerReflectionAlpha, {
    serverReflectionInfo: (requests, { signal }) => answers(index, requests, signal),
  });
}

/** Answers question by question, until the client is done or the call is aborted. */
async function* answers<R extends Request>(
  index: DescriptorIndex,
  requests: AsyncIterable<R>,
  signal: AbortSignal,
) {
  const sent = new Set<DescFile>();
  for await (const request of untilAborted(requests, signal)) {
    yield {
      validHost: request.host,
      originalRequest: request,
      messageResponse: index.answer(request.messageRequest, sent),
    };
  }
}

/** A client may hold its stream open without asking anything: the wait for it must end with the signal. */
async function* untilAborted<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T, void> {
  const iterator = source[Symbol.asyncIterator]();
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  aborted.catch(() => {});
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), aborted]);
      if (next.done) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Finds descriptors by file name and by symbol. */
class DescriptorIndex {
  readonly #files = new Map<string, DescFile>();
  readonly #symbols = new Map<string, DescFile>();
  readonly #messages = new Set<string>();

  constructor(private readonly services: readonly DescService[]) {
    for (const { file } of services) this.#add(file);
  }

  /** @param sent the files this stream has sent so far; those sent now are added. */
  answer(question: Question, sent: Set<DescFile>): Answer {
    switch (question.case) {
      case 'listServices':
        return {
          case: 'listServicesResponse',
          value: { service: this.services.map((service) => ({ name: service.typeName })) },
        };
      case 'fileByFilename':
        return answerFile(this.#files.get(question.value), `file ${question.value}`, sent);
      case 'fileContainingSymbol':
        return answerFile(this.#symbols.get(question.value), `symbol ${question.value}`, sent);
      case 'fileContainingExtension': {
        const { containingType, extensionNumber } = question.value;
        return notFound(`extension ${extensionNumber} of ${containingType}`);
      }
      case 'allExtensionNumbersOfType':
        if (!this.#messages.has(question.value)) return notFound(`message ${question.value}`);
        return {
          case: 'allExtensionNumbersResponse',
          value: { baseTypeName: question.value, extensionNumber: [] },
        };
      default:
        return error(Code.InvalidArgument, 'the request asks nothing: set one field of message_request');
    }
  }

  #add(file: DescFile): void {
    const name = file.proto.name;
    if (this.#files.has(name)) return;
    this.#files.set(name, file);
    for (const symbol of symbolsOf(file)) this.#symbols.set(symbol, file);
    for (const type of nestedTypes(file)) if (type.kind === 'message') this.#messages.add(type.typeName);
    for (const dependency of file.dependencies) this.#add(dependency);
  }
}

function* symbolsOf(file: DescFile): Generator<string> {
  for (const type of nestedTypes(file)) {
    yield type.typeName;
    if (type.kind === 'message') {
      for (const member of type.members) yield `${type.typeName}.${member.name}`;
      for (const field of type.fields) yield `${type.typeName}.${field.name}`;
    } else if (type.kind === 'service') {
      for (const method of type.methods) yield `${type.typeName}.${method.name}`;
    } else if (type.kind === 'enum') {
      // In protobuf, enum values are siblings of their enum, not children.
      const scope = type.typeName.slice(0, type.typeName.lastIndexOf('.') + 1);
      for (const value of type.values) yield scope + value.name;
    }
  }
}

/** The file itself, then all it imports that the stream has not sent yet. */
function answerFile(file: DescFile | undefined, wanted: string, sent: Set<DescFile>): Answer {
  if (!file) return notFound(wanted);
  const wave = [file, ...importsOf(file, new Set([file, ...sent]))];
  for (const each of wave) sent.add(each);
  return {
    case: 'fileDescriptorResponse',
    value: { fileDescriptorProto: wave.map((each) => toBinary(FileDescriptorProtoSchema, each.proto)) },
  };
}

function* importsOf(file: DescFile, seen: Set<DescFile>): Generator<DescFile> {
  for (const dependency of file.dependencies) {
    if (seen.has(dependency)) continue;
    seen.add(dependency);
    yield dependency;
    yield* importsOf(dependency, seen);
  }
}

function notFound(wanted: string): Answer {
  return error(Code.NotFound, `${wanted} not found`);
}

function error(code: Code, errorMessage: string): Answer {
  return { case: 'errorResponse', value: { errorCode: code, errorMessage } };
}
