/** The most that one statement carries: beyond it, its locks and its answer grow heavier than a round trip. */
const LARGEST_BATCH = 500;

/**
 * Gathers calls into batches without a timer: one batch is under way at a time, and what comes meanwhile
 * is the next. An idle server adds nothing to a call; a busy one makes few large statements instead of many
 * small ones.
 *
 * @param run answers in the order of its items; when it throws, every call of the batch does
 * @param keysOf what an item must have for itself: two with a key in common never share a batch, and keep their order
 */
export function createBatcher<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
  keysOf: (item: Item) => readonly string[] = () => [],
): (item: Item) => Promise<Result> {
  interface Waiter {
    readonly item: Item;
    readonly resolve: (result: Result) => void;
    readonly reject: (error: unknown) => void;
  }
  let waiting: Waiter[] = [];
  let running = false;

  const firstBatch = (from: readonly Waiter[]) => {
    const taken = new Set<string>();
    const batch: Waiter[] = [];
    const rest: Waiter[] = [];
    for (const waiter of from) {
      const keys = keysOf(waiter.item);
      const free = batch.length < LARGEST_BATCH && !keys.some((key) => taken.has(key));
      (free ? batch : rest).push(waiter);
      // Also of those left behind: whoever came after them must not go before.
      for (const key of keys) taken.add(key);
    }
    return { batch, rest };
  };

  const drain = async () => {
    while (waiting.length > 0) {
      const { batch, rest } = firstBatch(waiting);
      waiting = rest;
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
