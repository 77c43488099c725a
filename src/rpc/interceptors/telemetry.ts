import type { Message } from '@bufbuild/protobuf';
import type { Duration } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, type ContextValues, type Interceptor } from '@connectrpc/connect';
import { type AcquireLeaseResponse, RefusalReason } from '@holdfast/proto/lease';
import type { Logger } from 'pino';
import type { Metrics } from '../../metrics.js';
import { traceKey } from '../call-trace.js';
import { withEnd } from '../stream-end.js';
import type { HowEnded } from '../tail.js';

/** Counts and times every call, and logs each at debug level: what was called, by whom nobody needs to know. */
export function telemetryInterceptor(metrics: Metrics, log: Logger): Interceptor {
  return (next) => async (request) => {
    const { service, method, stream, contextValues } = request;
    const finish = finisher(metrics, log, `${service.name}/${method.name}`, stream, contextValues);
    try {
      const response = await next(request);
      if (response.stream) return withEnd(contextValues, response, { ended: finish });
      const ms = finish('DONE');
      if (ACQUIRES.has(method.name) && !request.stream) {
        countAcquire(metrics, request.message, response.message, ms);
      }
      return response;
    } catch (error) {
      finish({ error });
      throw error;
    }
  };
}

/**
 * Told how a call ended, it answers after how many milliseconds. Not within the interceptor, whose scope refers to the
 * pipeline: this is kept as long as a stream is open.
 */
function finisher(metrics: Metrics, log: Logger, rpc: string, stream: boolean, values: ContextValues) {
  const started = performance.now();
  return (how: HowEnded) => {
    const code = how === 'DONE' ? 'OK' : how === 'LEFT' ? 'Canceled' : codeOf(how.error);
    const ms = performance.now() - started;
    metrics.calls.inc({ rpc, code });
    // How long a stream stays open is its caller's choice.
    if (!stream) metrics.seconds.observe({ rpc }, ms / 1000);
    log.debug({ rpc, code, ms: Math.round(ms * 10) / 10, ...values.get(traceKey) }, 'rpc');
    return ms;
  };
}

const ACQUIRES = new Set(['AcquireLease', 'AcquireNextTask']);

/** Both acquires answer with the same two fields. */
function countAcquire(metrics: Metrics, request: Message, answer: Message, ms: number): void {
  const { outcome } = answer as AcquireLeaseResponse;
  const { wait } = request as Message & { wait?: Duration };
  if (outcome.case === 'refusal') metrics.refusals.inc({ reason: RefusalReason[outcome.value.reason] });
  // How long a call waits for a task is its caller's choice.
  else if (!wait) metrics.claimSeconds.observe(ms / 1000);
}

const codeOf = (error: unknown) => Code[ConnectError.from(error).code] ?? 'Unknown';
