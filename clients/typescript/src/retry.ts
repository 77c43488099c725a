import {
  create,
  type DescMessage,
  type DescMethodUnary,
  type Message,
  type MessageInitShape,
} from '@bufbuild/protobuf';
import { type Duration, durationMs, MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, createContextKey, type Transport } from '@connectrpc/connect';
import { RetryAdviceSchema } from '@holdfast/proto/guard';
import { retryPauseMs } from './backoff.js';
import { sleep, systemClock } from './clock.js';

/** How often a call is sent at most, unless the caller says otherwise. */
export const DEFAULT_ATTEMPTS = 5;

/** Set on one call: how often it is sent at most. */
export const attemptsKey = createContextKey<number | undefined>(undefined, {
  description: 'holdfast: attempts of a call',
});

/** All attempts of a call together, when the caller names no time. In ms. */
const CALL_MS = 60_000;
/** One attempt, beyond what the server was asked to wait: an answer that got lost must leave time for the next. In ms. */
const ATTEMPT_MS = 15_000;

/**
 * Sends calls again whose outcome is unknown, where doing them twice is not possible: those that only read, and those
 * with a request id, which is made up where it is missing. What the server decided is never sent again.
 *
 * @param closed nothing is sent again once it fires
 */
export function withRetries(transport: Transport, attempts: number, closed: AbortSignal): Transport {
  return {
    stream: (...call) => transport.stream(...call),
    async unary(method, signal, timeoutMs, header, input, contextValues) {
      const mostAttempts = contextValues?.get(attemptsKey) ?? attempts;
      const message = withRequestId(method.input, input);
      const endAt =
        performance.now() + (timeoutMs === undefined ? CALL_MS : timeoutMs > 0 ? timeoutMs : Infinity);
      const attemptMs = isRepeatable(method) ? ATTEMPT_MS + waitMs(message) : Infinity;
      for (let attempt = 1; ; attempt++) {
        const allMs = endAt - performance.now();
        const leftMs = attempt < mostAttempts ? Math.min(attemptMs, allMs) : allMs;
        try {
          return await transport.unary(
            method,
            signal,
            timerMs(leftMs),
            header,
            message as typeof input,
            contextValues,
          );
        } catch (thrown) {
          if (signal?.aborted || closed.aborted) throw thrown;
          const error = asUnavailable(thrown);
          const pauseMs = retryPauseMs(attempt, Math.random(), retryAfterMs(error));
          const inTime = performance.now() + pauseMs < endAt;
          if (attempt >= mostAttempts || !inTime || !isRepeated(method, error)) throw error;
          await sleep(systemClock, pauseMs, signal, closed);
        }
      }
    },
  };
}

/** Whether a call that failed with `error` is sent again. */
export function isRepeated(method: DescMethodUnary, error: unknown): boolean {
  if (!(error instanceof ConnectError)) return false;
  if (retryAfterMs(error) !== undefined) return true;
  return isRepeatable(method) && (error.code === Code.Unavailable || error.code === Code.DeadlineExceeded);
}

// A unary RPC that only reads, or that is done once under its request id.
const isRepeatable = (method: DescMethodUnary): boolean =>
  method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS ||
  method.input.field.requestId !== undefined;

// Connect for Node has several codes for a connection that broke. What the server answers has headers.
function asUnavailable(error: unknown): unknown {
  if (!(error instanceof ConnectError) || [...error.metadata].length > 0) return error;
  if (![Code.Aborted, Code.Canceled, Code.Internal].includes(error.code)) return error;
  return new ConnectError(
    `the connection broke: ${error.rawMessage}`,
    Code.Unavailable,
    undefined,
    undefined,
    error,
  );
}

/** The server's advice when nothing was done, since others were in the way or the token has had its share. */
function retryAfterMs(error: unknown): number | undefined {
  if (!(error instanceof ConnectError)) return undefined;
  if (error.code !== Code.Aborted && error.code !== Code.ResourceExhausted) return undefined;
  const advice = error.findDetails(RetryAdviceSchema)[0];
  return advice && (advice.retryAfter ? durationMs(advice.retryAfter) : 0);
}

function withRequestId(schema: DescMessage, input: MessageInitShape<DescMessage>): Message {
  const message: Message & { requestId?: string } = create(schema, input);
  if (message.requestId !== '') return message;
  // A shallow copy: the caller's own message stays as it is.
  return Object.assign(Object.create(Object.getPrototypeOf(message)), message, {
    requestId: crypto.randomUUID(),
  });
}

const waitMs = (message: object): number =>
  'wait' in message && message.wait !== undefined ? durationMs(message.wait as Duration) : 0;

// Connect takes 0 and undefined for a time of its own.
const timerMs = (ms: number): number => (Number.isFinite(ms) ? Math.max(1, Math.ceil(ms)) : 0);
