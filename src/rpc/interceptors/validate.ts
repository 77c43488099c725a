import type { Interceptor } from '@connectrpc/connect';
import { invalidArgument } from '../problems.js';
import { firstViolation } from '../validate.js';

/** Refuses a request whose fields break their rules, before anything is read or written. */
export const validateInterceptor: Interceptor = (next) => async (request) => {
  if (!request.stream) {
    const violation = firstViolation(request.method.input, request.message);
    if (violation) throw invalidArgument(violation.field, violation.description);
    return next(request);
  }
  const messages = request.message;
  return next({
    ...request,
    message: (async function* () {
      for await (const message of messages) {
        const violation = firstViolation(request.method.input, message);
        if (violation) throw invalidArgument(violation.field, violation.description);
        yield message;
      }
    })(),
  });
};
