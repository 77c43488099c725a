import type { Message } from '@bufbuild/protobuf';
import { Code, ConnectError, type Interceptor } from '@connectrpc/connect';
import {
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { traceKey } from '../call-trace.js';
import { withEnd } from '../stream-end.js';
import type { HowEnded } from '../tail.js';

/** https://www.w3.org/TR/trace-context/: version, trace, the caller's span, flags. */
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/;

/** Longer ones are no ids that somebody looks for. */
const MAX_REQUEST_ID = 256;

/** The codes that are the server's fault: only those make a span a failed one. */
const OUR_FAULT: ReadonlySet<Code> = new Set([
  Code.Unknown,
  Code.Internal,
  Code.DataLoss,
  Code.Unavailable,
  Code.DeadlineExceeded,
  Code.Unimplemented,
]);

/** Makes out of which trace a call is, for the log, and tells it as a span when there is a tracer. */
export function traceInterceptor(tracer: Tracer | undefined): Interceptor {
  return (next) => async (request) => {
    const caller = callerOf(request.header.get('traceparent'));
    const requestId = request.stream ? undefined : requestIdOf(request.message);
    const service = request.service.typeName;
    const method = request.method.name;
    const span = tracer?.startSpan(
      `${service}/${method}`,
      {
        kind: SpanKind.SERVER,
        attributes: {
          'rpc.system': 'connect_rpc',
          'rpc.service': service,
          'rpc.method': method,
          ...(requestId !== undefined && { 'holdfast.request_id': requestId }),
        },
      },
      caller ? trace.setSpanContext(ROOT_CONTEXT, caller) : ROOT_CONTEXT,
    );
    const traceId = span?.spanContext().traceId ?? caller?.traceId;
    request.contextValues.set(traceKey, {
      ...(traceId !== undefined && { trace_id: traceId }),
      ...(requestId !== undefined && { request_id: requestId }),
    });
    if (!span) return next(request);
    try {
      const response = await next(request);
      if (!response.stream) {
        span.end();
        return response;
      }
      return withEnd(request.contextValues, response, { ended: ender(span) });
    } catch (error) {
      fail(span, error);
      throw error;
    }
  };
}

/** Not within the interceptor, whose scope refers to the pipeline: this is kept as long as a stream is open. */
function ender(span: Span) {
  return (how: HowEnded) => (typeof how === 'string' ? span.end() : fail(span, how.error));
}

function fail(span: Span, error: unknown): void {
  const { code } = ConnectError.from(error);
  span.setAttribute('rpc.connect_rpc.error_code', Code[code].replace(/(?<!^)[A-Z]/g, '_$&').toLowerCase());
  // No message: it may hold what a caller sent.
  if (OUR_FAULT.has(code)) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

function callerOf(traceparent: string | null) {
  const [, traceId = '', spanId = '', flags = ''] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  const caller = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
  return isSpanContextValid(caller) ? caller : undefined;
}

function requestIdOf(message: Message): string | undefined {
  const { requestId } = message as Message & { requestId?: string };
  return requestId && requestId.length <= MAX_REQUEST_ID ? requestId : undefined;
}
