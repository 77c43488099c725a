import type { Message } from '@bufbuild/protobuf';
import type { Duration } from '@bufbuild/protobuf/wkt';
import type { Interceptor } from '@connectrpc/connect';
import { identityKey } from '../call.js';
import { exhausted } from '../problems.js';
import { OpenCalls, type Quotas, RequestBuckets } from '../quotas.js';
import { withEnd } from '../stream-end.js';
import { handoverOf } from '../tail.js';

/** When to look again whether a place has become free, in milliseconds. */
const PLACE_MS = 5_000;

/** Keeps one token from taking what is for all: counted by token, in this process. */
export function quotaInterceptor({ requestsPerSecond, watches, waiters }: Quotas): Interceptor {
  const buckets = requestsPerSecond > 0 ? new RequestBuckets(requestsPerSecond) : undefined;
  const openWatches = watches > 0 ? new OpenCalls(watches) : undefined;
  const openWaits = waiters > 0 ? new OpenCalls(waiters) : undefined;

  return (next) => async (request) => {
    const identity = request.contextValues.get(identityKey);
    if (!identity) throw new Error('quotas are for calls whose caller is known');
    const token = `${identity.project} ${identity.tokenId}`;
    const waitMs = buckets?.take(token, performance.now()) ?? 0;
    if (waitMs > 0) {
      throw exhausted(
        `This token makes more than ${requestsPerSecond} requests a second. Slow down; nothing was done, repeat it after retry_after.`,
        waitMs,
      );
    }
    const waits = !request.stream && waitsOf(request.message);
    const open = request.stream ? openWatches : waits ? openWaits : undefined;
    if (!open) return next(request);

    const leave = open.enter(token);
    if (!leave) {
      throw exhausted(
        request.stream
          ? `This token has ${watches} streams open, as many as it may. End some, or let one stream serve several readers.`
          : `This token has ${waiters} calls waiting for a task, as many as it may. Ask without wait, or after retry_after.`,
        PLACE_MS,
      );
    }
    // A stream that is given up before its first message is never read to its end.
    const handover = handoverOf(request.contextValues);
    request.signal.addEventListener('abort', () => handover?.taken || leave(), { once: true });
    try {
      const response = await next(request);
      if (response.stream) return withEnd(request.contextValues, response, { ended: leave });
      leave();
      return response;
    } catch (error) {
      leave();
      throw error;
    }
  };
}

function waitsOf(message: Message): boolean {
  const { wait } = message as Message & { wait?: Duration };
  return wait !== undefined && (wait.seconds > 0n || wait.nanos > 0);
}
