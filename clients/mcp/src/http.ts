import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { Holdfast } from '@holdfast/client';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  type AuthInfo,
  createMcpHandler,
  localhostAllowedOrigins,
  originValidationResponse,
} from '@modelcontextprotocol/server';
import { NamedExecutions } from './named-executions.js';
import { createMcpServer } from './server.js';
import { TOOLSET_NAMES } from './toolset-names.js';
import { isToolsetName, TOOLSETS } from './toolsets.js';

/** What serving over HTTP needs of the server that it is part of. */
export interface HttpOptions {
  /** Whose token it is; undefined when it is nobody's, and a status of HTTP when that cannot be told now. */
  authenticate(token: string): Promise<{ principal: string } | { status: number; why: string } | undefined>;
  /** The API, as the token's principal. */
  connect(token: string): Holdfast;
  /** Fires when the server stops: calls that wait are then answered at once. */
  stopping: AbortSignal;
  /** The longest request, in bytes. */
  maxBytes: number;
  /** Names of hosts whose pages may call, beside those of this machine; by default none. */
  allowedHosts?: readonly string[];
  /** Told of what went wrong, for the log. */
  onError(error: Error): void;
}

/** MCP at one path of an HTTP server, for any number of agents. It keeps no sessions. */
export interface HttpEndpoint {
  /** Answers one request, over whichever HTTP version. Never rejects. */
  handle(
    request: IncomingMessage | Http2ServerRequest,
    response: ServerResponse | Http2ServerResponse,
  ): Promise<void>;
  /** Ends streams and what is being answered. */
  close(): Promise<void>;
}

/** Serves MCP over streamable HTTP: of 2026-07-28, and without sessions also to clients of older protocols. */
export function createHttpEndpoint(options: HttpOptions): HttpEndpoint {
  const handler = createMcpHandler(
    ({ authInfo, requestInfo }) => {
      const holdfast = options.connect(authInfo?.token ?? '');
      const tools = new URL(requestInfo?.url ?? 'http://localhost').searchParams.get('tools') ?? 'holdfast';
      const toolset = TOOLSETS[isToolsetName(tools) ? tools : 'holdfast'];
      return createMcpServer({
        holdfast,
        project: '',
        executions: new NamedExecutions(holdfast, ''),
        toolset,
        stopping: options.stopping,
      });
    },
    { maxRequestBodySize: options.maxBytes, onerror: options.onError },
  );
  const allowedOrigins = [...localhostAllowedOrigins(), ...(options.allowedHosts ?? [])];
  const serve = async (request: Request): Promise<Response> => {
    const tools = new URL(request.url).searchParams.get('tools');
    if (tools !== null && !isToolsetName(tools)) {
      return refusal(
        400,
        `There are no tools "${tools}". Ask for ?tools=${TOOLSET_NAMES.join(' or ?tools=')}.`,
      );
    }
    // A page of another site, also one whose name was made to point to this machine.
    const foreign = originValidationResponse(request, allowedOrigins);
    if (foreign) return foreign;
    const token = /^Bearer +([\x21-\x7e]+)$/i.exec(request.headers.get('authorization') ?? '')?.[1];
    const caller = token ? await options.authenticate(token) : undefined;
    if (caller && 'status' in caller) return refusal(caller.status, caller.why, { 'retry-after': '1' });
    if (!token || !caller) {
      const why = token ? 'The token is not valid, or was revoked.' : 'A token is missing.';
      return refusal(401, `${why} Send Authorization: Bearer hf_…`, { 'www-authenticate': 'Bearer' });
    }
    const authInfo: AuthInfo = { token, clientId: caller.principal, scopes: [] };
    const response = await handler.fetch(request, { authInfo });
    // Whether the connection is kept is for the server to say; over HTTP/2 nobody may.
    response.headers.delete('connection');
    return response;
  };
  const handle = toNodeHandler(
    { fetch: serve },
    { maxRequestBodySize: options.maxBytes, onerror: options.onError },
  );
  return {
    handle: (request, response) =>
      handle(
        request as unknown as Parameters<typeof handle>[0],
        response as unknown as Parameters<typeof handle>[1],
      ),
    close: () => handler.close(),
  };
}

/** An error of JSON-RPC, for a request whose id nobody has read. */
function refusal(status: number, message: string, headers: Record<string, string> = {}): Response {
  return Response.json({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }, { status, headers });
}
