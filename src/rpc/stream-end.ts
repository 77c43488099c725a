/** What becomes of a stream's end. */
interface StreamEnd {
  /** What is thrown instead of what a stream failed with. */
  readonly failed?: (error: unknown) => unknown;
  /** Told once how it ended: with an error, by itself, or because its reader left. */
  readonly ended?: (how: { readonly error: unknown } | 'DONE' | 'LEFT') => void;
}

/**
 * The same messages with an eye on their end. Not an async generator: each of those costs every message of every stream
 * several turns of the microtask queue.
 */
export function withEnd<T>(messages: AsyncIterable<T>, { failed, ended }: StreamEnd): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const source = messages[Symbol.asyncIterator]();
      let over = false;
      const end = (how: Parameters<NonNullable<StreamEnd['ended']>>[0]) => {
        if (!over) ended?.(how);
        over = true;
      };
      const onResult = (result: IteratorResult<T>) => {
        if (result.done) end('DONE');
        return result;
      };
      const onError = (error: unknown): never => {
        end({ error });
        throw failed ? failed(error) : error;
      };
      const leave = async (value?: unknown): Promise<IteratorResult<T>> => {
        end('LEFT');
        await source.return?.();
        return { done: true, value };
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
}
