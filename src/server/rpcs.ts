import { Readable } from 'node:stream';
import type { DescService } from '@bufbuild/protobuf';
import {
  type ConnectRouter,
  type ContextValues,
  createConnectRouter,
  type Interceptor,
} from '@connectrpc/connect';
import type { UniversalHandler, UniversalServerRequest } from '@connectrpc/connect/protocol';
import {
  compressionGzip,
  universalRequestFromNodeRequest,
  universalResponseToNodeResponse,
} from '@connectrpc/connect-node';
import type { Logger } from 'pino';
import { peerCertificateKey } from '../rpc/peer-certificate.js';
import { offerHandover } from '../rpc/tail.js';
import { clientCertificate } from './client-certificate.js';
import { refuseLongDeadlines, takeLongDeadline } from './deadline.js';
import { cutOff, type HttpRequest, type HttpResponse, sendJson, sendWrongMethod } from './http.js';
import type { ServerLimits } from './limits.js';
import { cutWhenStalled } from './stalled.js';
import { leavePipeline } from './tail.js';
import { blameSender, noteDecoded } from './undecodable.js';

/** What {@link createRpcs} is built from. */
export interface RpcSources {
  /** The API's services. */
  routes: (router: ConnectRouter) => void;
  /** Around the API's services, outermost first. */
  interceptors: readonly Interceptor[];
  /** Services that need no identity: given those of `routes`, they register themselves. No interceptors. */
  open: (router: ConnectRouter, services: readonly DescService[]) => void;
  shutdownSignal: AbortSignal;
  limits: ServerLimits;
  log: Logger;
}

/** Finds the RPC at a path. */
export type Rpcs = ReadonlyMap<string, UniversalHandler>;

/** Builds the handlers of all RPCs, by path. They speak Connect, gRPC and gRPC-Web. */
export function createRpcs(sources: RpcSources): Rpcs {
  const { limits, shutdownSignal } = sources;
  const deadlines = refuseLongDeadlines(limits.deadlineMs);
  const shared = { acceptCompression: [compressionGzip], readMaxBytes: limits.messageBytes, shutdownSignal };
  const api = createConnectRouter({
    ...shared,
    interceptors: [noteDecoded, ...sources.interceptors, deadlines],
  });
  sources.routes(api);
  const services = [...new Set(api.handlers.map((handler) => handler.service))];
  const open = createConnectRouter({ ...shared, interceptors: [noteDecoded, deadlines] });
  sources.open(open, services);
  return new Map([...api.handlers, ...open.handlers].map((handler) => [handler.requestPath, handler]));
}

/**
 * Runs one RPC. Connect's own adapter is not used, because it lets an unusable Host header crash the
 * process, leaves a failed response hanging, and writes to the console.
 */
export async function serveRpc(
  rpc: UniversalHandler,
  req: HttpRequest,
  res: HttpResponse,
  { limits, shutdownSignal, log }: Pick<RpcSources, 'limits' | 'shutdownSignal' | 'log'>,
): Promise<void> {
  if (!rpc.allowedMethods.includes(req.method ?? '')) {
    sendWrongMethod(req, res, rpc.allowedMethods);
    return;
  }
  let request: ReturnType<typeof universalRequest>;
  try {
    request = universalRequest(rpc, req, res, limits);
  } catch {
    sendJson(req, res, 400, { code: 'invalid_argument', message: 'the request has no usable Host' });
    return;
  }
  const streams = rpc.method.methodKind !== 'unary';
  const handover = streams ? offerHandover(request.contextValues) : undefined;
  try {
    const response = await blameSender(await rpc(request), request.contextValues);
    if (handover?.taken) {
      const signals = [request.signal, shutdownSignal];
      const { taken: handedOver, ends } = handover;
      leavePipeline(response, { handedOver, ends, res, signals, stalledMs: limits.stalledMs });
      return;
    }
    const { body } = response;
    await universalResponseToNodeResponse(
      streams && body ? { ...response, body: cutWhenStalled(body, res, limits.stalledMs) } : response,
      res,
    );
  } catch (err) {
    // What the implementation throws is answered by Connect: this is a broken connection or a broken call.
    log.debug({ err, rpc: rpc.requestPath }, 'an RPC could not be answered');
    if (res.headersSent || res.destroyed) cutOff(res);
    else sendJson(req, res, 500, { code: 'internal', message: 'internal error' });
  }
}

function universalRequest(
  rpc: UniversalHandler,
  req: HttpRequest,
  res: HttpResponse,
  limits: ServerLimits,
): UniversalServerRequest & { contextValues: ContextValues } {
  const request = universalRequestFromNodeRequest(req, res, undefined, undefined);
  const unary = rpc.method.methodKind === 'unary';
  const contextValues = takeLongDeadline(request.header, unary, limits.deadlineMs);
  contextValues.set(peerCertificateKey, clientCertificate(req));
  if (!unary) {
    // A streamed event is small and urgent: compressing it costs more than it saves.
    request.header.set('grpc-accept-encoding', 'identity');
    request.header.set('connect-accept-encoding', 'identity');
  }
  // A body that is refused halfway must not take the connection, and with it the refusal, down.
  const body = Readable.prototype.iterator.call(req, { destroyOnReturn: false });
  return { ...request, body, contextValues };
}
