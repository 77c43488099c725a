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
      metrics.seconds.observe({ rpc }, ms / 1000);
      log.debug({ rpc, code, ms: Math.round(ms * 10) / 10 }, 'rpc');
    };
    try {
      const response = await next(request);
      finish('OK');
      return response;
    } catch (error) {
      finish(Code[ConnectError.from(error).code] ?? 'Unknown');
      throw error;
    }
  };
}
