import { Code, ConnectError, type Transport } from '@connectrpc/connect';
import { createHoldfast } from '@holdfast/client';
import { createHttpEndpoint, type HttpEndpoint } from '@holdfast/mcp';
import type { Logger } from 'pino';

/** What the endpoint is built from. */
export interface McpEndpointOptions {
  /** Carries calls to the API as the token's principal. */
  transport(token: string): Transport;
  /** Fires when the server stops. */
  stopping: AbortSignal;
  /** The longest request, in bytes. */
  maxBytes: number;
  /** Pages of these hosts may call, beside those of this machine. */
  allowedHosts: readonly string[];
  log: Logger;
}

/** What is over soon, as HTTP has it. */
const BUSY: Readonly<Record<number, number>> = { [Code.ResourceExhausted]: 429, [Code.Unavailable]: 503 };

/** MCP as a page of this server. It is a client like any other: all it does goes through the API. */
export function mcpEndpoint({
  transport,
  stopping,
  maxBytes,
  allowedHosts,
  log,
}: McpEndpointOptions): HttpEndpoint {
  const connect = (token: string) =>
    createHoldfast({ url: 'http://in-process', token, transport: transport(token), attempts: 1 });
  return createHttpEndpoint({
    connect,
    async authenticate(token) {
      try {
        return { principal: (await connect(token).projects.whoAmI({})).principal };
      } catch (error) {
        if (error instanceof ConnectError && error.code === Code.Unauthenticated) return undefined;
        if (error instanceof ConnectError && error.code in BUSY) {
          return { status: BUSY[error.code] as number, why: error.rawMessage };
        }
        throw error;
      }
    },
    stopping,
    maxBytes,
    allowedHosts,
    onError: (err) => log.info({ err }, 'an MCP request could not be answered'),
  });
}
