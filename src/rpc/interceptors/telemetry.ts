import { Code, ConnectError, type Interceptor } from '@connectrpc/connect';
import type { Logger } from 'pino';
import type { Metrics } from '../../metrics.js';

/** Counts and times every call, and logs each at debug level: what was called, by whom nobody needs to know. */
export function telemetryInterceptor(metrics: Metrics, log: Logger): Interceptor {
  return (next) => async (request) => {
    const rpc = `${request.service.name}/${request.method.name}`;
    const started = performance.now();
    const finish = (code: string) => {
      const ms = performance.now() - started;
      metrics.calls.inc({ rpc, code });
      // How long a stream stays open is its caller's choice.
      if (!request.stream) metrics.seconds.observe({ rpc }, ms / 1000);
      log.debug({ rpc, code, ms: Math.round(ms * 10) / 10 }, 'rpc');
    };
    try {
      const response = await next(request);
      if (response.stream) return { ...response, message: finishing(response.message, finish) };
      finish('OK');
      return response;
    } catch (error) {
      finish(codeOf(error));
      throw error;
    }
  };
}

const codeOf = (error: unknown) => Code[ConnectError.from(error).code] ?? 'Unknown';

/** A stream that its caller ends is left at a `yield`. */
async function* finishing<T>(messages: AsyncIterable<T>, finish: (code: string) => void) {
  let code = 'Canceled';
  try {
    yield* messages;
    code = 'OK';
  } catch (error) {
    code = codeOf(error);
    throw error;
  } finally {
    finish(code);
  }
}
