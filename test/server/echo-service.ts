import { create, createFileRegistry } from '@bufbuild/protobuf';
import type { GenService } from '@bufbuild/protobuf/codegenv2';
import {
  FileDescriptorProtoSchema,
  file_google_protobuf_wrappers,
  FieldDescriptorProto_Label as Label,
  MethodOptions_IdempotencyLevel,
  type StringValueSchema,
  FieldDescriptorProto_Type as Type,
} from '@bufbuild/protobuf/wkt';
import type { ConnectRouter } from '@connectrpc/connect';

type Unary = { methodKind: 'unary'; input: typeof StringValueSchema; output: typeof StringValueSchema };
type Stream = Omit<Unary, 'methodKind'> & { methodKind: 'server_streaming' };

const text = { inputType: '.google.protobuf.StringValue', outputType: '.google.protobuf.StringValue' };

const file = create(FileDescriptorProtoSchema, {
  name: 'holdfast/test/v1/echo.proto',
  package: 'holdfast.test.v1',
  syntax: 'proto3',
  dependency: ['google/protobuf/wrappers.proto'],
  service: [
    {
      name: 'EchoService',
      method: [
        {
          name: 'Echo',
          ...text,
          options: { idempotencyLevel: MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS },
        },
        { name: 'Hold', ...text },
        { name: 'Tick', ...text, serverStreaming: true },
      ],
    },
  ],
  messageType: [
    {
      name: 'Outer',
      nestedType: [{ name: 'Inner' }],
      oneofDecl: [{ name: 'choice' }],
      field: [
        {
          name: 'label',
          number: 1,
          type: Type.STRING,
          label: Label.OPTIONAL,
          oneofIndex: 0,
          jsonName: 'label',
        },
      ],
    },
  ],
  enumType: [{ name: 'Mood', value: [{ name: 'MOOD_UNSPECIFIED', number: 0 }] }],
});

/** A service without a database, to try the transport with. */
export const EchoService = createFileRegistry(file, (name) =>
  name === 'google/protobuf/wrappers.proto' ? file_google_protobuf_wrappers : undefined,
).getService('holdfast.test.v1.EchoService') as unknown as GenService<{
  echo: Unary;
  hold: Unary;
  tick: Stream;
}>;

/** What the running calls of one EchoService do. */
export interface EchoState {
  /** Fulfil to let Hold answer. */
  released: Promise<void>;
  /** Tells when a Hold call is running. */
  onHold: () => void;
}

/** Echo answers at once; Hold answers when released, whatever its signal says; Tick says one thing and stays. */
export function echoRoutes(state: EchoState): (router: ConnectRouter) => void {
  return (router) =>
    router.service(EchoService, {
      echo: ({ value }) => ({ value }),
      async hold({ value }) {
        state.onHold();
        await state.released;
        return { value };
      },
      async *tick({ value }, { signal }) {
        yield { value };
        await new Promise<void>((resolve) => {
          if (signal.aborted) resolve();
          signal.addEventListener('abort', () => resolve());
        });
        throw signal.reason;
      },
    });
}
