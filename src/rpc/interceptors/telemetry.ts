import { Code, ConnectError, type Interceptor } from '@connectrpc/connect';
import type { Logger } from 'pino';
import type { Metrics } from '../../metrics.js';
import { withEnd } from '../stream-end.js';

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
      if (!response.stream) {
        finish('OK');
        return response;
      }
      const message = withEnd(response.message, {
        ended: (how) => finish(how === 'DONE' ? 'OK' : how === 'LEFT' ? 'Canceled' : codeOf(how.error)),
      });
      return { ...response, message };
    } catch (error) {
      finish(codeOf(error));
      throw error;
    }
  };
}

const codeOf = (error: unknown) => Code[ConnectError.from(error).code] ?? 'Unknown';
