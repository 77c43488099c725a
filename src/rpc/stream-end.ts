import type { ContextValues, StreamResponse } from '@connectrpc/connect';
import { type HowEnded, handoverOf, type StreamEnd } from './tail.js';

/**
 * The same answer with an eye on the end of its messages, also when they leave the pipeline. Not an async generator:
 * each of those costs every message of every stream several turns of the microtask queue.
 */
export function withEnd(
  values: ContextValues,
  response: StreamResponse,
  streamEnd: StreamEnd,
): StreamResponse {
  const { failed, ended } = streamEnd;
  const handover = handoverOf(values);
  handover?.ends.push(streamEnd);
  const message: StreamResponse['message'] = {
    [Symbol.asyncIterator]() {
      const source = response.message[Symbol.asyncIterator]();
      let over = false;
      const end = (how: HowEnded) => {
        if (!over && !handover?.taken) ended?.(how);
        over = true;
      };
      const onResult = <T>(result: IteratorResult<T>) => {
        if (result.done) end('DONE');
        return result;
      };
      const onError = (error: unknown): never => {
        end({ error });
        throw failed ? failed(error) : error;
      };
      const leave = async (value?: unknown) => {
        end('LEFT');
        await source.return?.();
        return { done: true as const, value };
      };
      return {
        next: () => source.next().then(onResult, onError),
        return: leave,
        async throw(error: unknown) {
          await leave();
          throw error;
        },
      };
    },
  };
  return { ...response, message };
}
