import {
  type DescMethodStreaming,
  type DescMethodUnary,
  fromJson,
  type JsonObject,
  type JsonValue,
  toJson,
} from '@bufbuild/protobuf';
import { Code, ConnectError, createContextValues, type Transport } from '@connectrpc/connect';
import { createConnectTransport, Http2SessionManager } from '@connectrpc/connect-node';
import { afterAll } from 'vitest';
import { methodOf } from './methods.js';

/** What came of a call of any RPC: its answer as JSON, or its status code and text. */
type Result =
  | { readonly code: 'Ok'; readonly answer: JsonObject }
  | { readonly code: keyof typeof Code; readonly message: string; readonly error: ConnectError };

/** Calls RPCs by their names, with JSON as requests: for tests that go over all of them. */
export interface AnyRpc {
  call(rpc: string, request: JsonObject, token?: string): Promise<Result>;
}

const sessions: Http2SessionManager[] = [];

afterAll(() => {
  for (const session of sessions) session.abort();
});

/** A connection that carries calls of anybody: each sends its own token, or none. */
export function anyRpc(url: string): AnyRpc {
  const sessionManager = new Http2SessionManager(url);
  sessions.push(sessionManager);
  const transport = createConnectTransport({ baseUrl: url, httpVersion: '2', sessionManager });
  return {
    call: async (rpc, request, token) => {
      try {
        return { code: 'Ok', answer: await answerOf(transport, rpc, request, token) };
      } catch (thrown) {
        const error = ConnectError.from(thrown);
        return { code: Code[error.code] as keyof typeof Code, message: error.rawMessage, error };
      }
    },
  };
}

async function answerOf(transport: Transport, rpc: string, json: JsonValue, token: string | undefined) {
  const method = methodOf(rpc);
  const request = fromJson(method.input, json);
  const header = new Headers(token === undefined ? {} : { authorization: `Bearer ${token}` });
  if (method.methodKind === 'unary') {
    const unary = method as DescMethodUnary;
    const { message } = await transport.unary(unary, undefined, undefined, header, request, undefined);
    return toJson(method.output, message) as JsonObject;
  }
  const once = (async function* () {
    yield request;
  })();
  const values = createContextValues();
  const streaming = method as DescMethodStreaming;
  const { message } = await transport.stream(streaming, undefined, 5_000, header, once, values);
  for await (const first of message) return toJson(method.output, first) as JsonObject;
  return {};
}
