/** The most that one statement carries: beyond it, its locks and its answer grow heavier than a round trip. */
const LARGEST_BATCH = 500;

/**
 * Gathers calls into batches without a timer: one batch is under way at a time, and what comes meanwhile
 * is the next. An idle server adds nothing to a call; a busy one makes few large statements instead of many
 * small ones.
 *
 * @param run answers in the order of its items; when it throws, every call of the batch does
 */
export function createBatcher<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  interface Waiter {
    readonly item: Item;
    readonly resolve: (result: Result) => void;
    readonly reject: (error: unknown) => void;
  }
  let waiting: Waiter[] = [];
  let running = false;

  const drain = async () => {
    running = true;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, LARGEST_BATCH);
      waiting = waiting.slice(LARGEST_BATCH);
      try {
        const results = await run(batch.map(({ item }) => item));
        for (const [i, waiter] of batch.entries()) waiter.resolve(results[i] as Result);
      } catch (error) {
        for (const waiter of batch) waiter.reject(error);
      }
    }
    running = false;
  };

  return (item) =>
    new Promise<Result>((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!running) {
        running = true;
        // What arrived with the same packet comes along.
        setImmediate(drain);
      }
    });
}
