/**
 * Repeats each step of the background until the work is done. Nothing of it outlives this call, whatever fails: what
 * goes on behind a failed test would fail others.
 */
export async function meanwhile(
  background: readonly (() => Promise<unknown>)[],
  work: () => Promise<unknown>,
): Promise<void> {
  let over = false;
  const repeated = background.map(async (step) => {
    while (!over) await step();
  });
  const ended = Promise.allSettled(repeated);
  try {
    await work();
  } finally {
    over = true;
    await ended;
  }
  await Promise.all(repeated);
}
