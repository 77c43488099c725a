import { Code, ConnectError, type ContextValues, type Interceptor } from '@connectrpc/connect';
import type { Logger } from 'pino';
import { Contention, faultOf } from '../../store/database-error.js';
import { type CallTrace, traceKey } from '../call-trace.js';
import { contended, ProblemError, problemError } from '../problems.js';
import { withEnd } from '../stream-end.js';

/** Turns what was thrown into what a client may know. What nobody foresaw is logged and told as INTERNAL. */
export function errorsInterceptor(log: Logger): Interceptor {
  return (next) => async (request) => {
    const { contextValues } = request;
    const told = teller(log, request.method.name, contextValues);
    try {
      const response = await next(request);
      return response.stream ? withEnd(contextValues, response, { failed: told }) : response;
    } catch (error) {
      throw told(error);
    }
  };
}

/** Not within the interceptor, whose scope refers to the pipeline: this is kept as long as a stream is open. */
function teller(log: Logger, rpc: string, values: ContextValues) {
  return (error: unknown) => toConnectError(error, log, { rpc, ...values.get(traceKey) });
}

function toConnectError(
  error: unknown,
  log: Logger,
  call: { readonly rpc: string } & CallTrace,
): ConnectError {
  if (error instanceof ConnectError) return error;
  if (error instanceof ProblemError) return problemError(error.problem);
  if (error instanceof Contention) return contended(error.message);
  switch (faultOf(error)) {
    case 'UNREACHABLE':
      log.warn({ ...call, err: error }, 'the database is out of reach');
      return new ConnectError(
        'The database is out of reach. Whether the call was done is not known: repeat it with the same request_id.',
        Code.Unavailable,
      );
    case 'CONTENDED':
    case 'TIMED_OUT':
      return contended('The database was too busy. Nothing was done; try again.');
    default:
      log.error({ ...call, err: error }, 'an RPC failed');
      return new ConnectError('Internal error; the server log says more.', Code.Internal);
  }
}
