import {
  type DescMessage,
  type DescMethod,
  fromBinary,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import { type ChannelCredentials, Client, type ClientOptions, credentials } from '@grpc/grpc-js';
import { onTestFinished } from 'vitest';

/** A grpc-js client: an implementation of gRPC that shares no code with the server. */
export function grpcClient(
  port: number,
  security: ChannelCredentials = credentials.createInsecure(),
  options: ClientOptions = {},
): Client {
  const client = new Client(`127.0.0.1:${port}`, security, options);
  onTestFinished(() => client.close());
  return client;
}

/** Path and codecs of a method as grpc-js wants them. */
export function grpcMethod<I extends DescMessage, O extends DescMessage>(
  method: DescMethod & { input: I; output: O },
) {
  return {
    path: `/${method.parent.typeName}/${method.name}`,
    encode: (message: MessageShape<I>) => Buffer.from(toBinary(method.input, message)),
    decode: (bytes: Buffer) => fromBinary(method.output, bytes),
  };
}

/** A unary call as a promise; it rejects with grpc-js's ServiceError. */
export function callUnary<I extends DescMessage, O extends DescMessage>(
  client: Client,
  method: DescMethod & { input: I; output: O },
  message: MessageShape<I>,
): Promise<MessageShape<O>> {
  const { path, encode, decode } = grpcMethod(method);
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(path, encode, decode, message, (err, answer) => {
      if (err) reject(err);
      else resolve(answer as MessageShape<O>);
    });
  });
}
