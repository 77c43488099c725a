/** How a load went. */
export interface Measured {
  /** Calls a second. */
  readonly rate: number;
  /** Milliseconds of one step, which may be several calls. */
  readonly p50: number;
  readonly p99: number;
}

/**
 * Runs `step` in a loop for each of `clients`, all at once, for so many milliseconds after a warm-up.
 *
 * @param step one round of one client; answers how many calls it made
 */
export async function measure<Client>(
  clients: readonly Client[],
  step: (client: Client) => Promise<number>,
  { warmUpMs = 1_000, forMs = 5_000 } = {},
): Promise<Measured> {
  const run = async (ms: number) => {
    let calls = 0;
    const times: number[] = [];
    const end = performance.now() + ms;
    await Promise.all(
      clients.map(async (client) => {
        while (performance.now() < end) {
          const started = performance.now();
          const made = await step(client);
          calls += made;
          times.push(performance.now() - started);
        }
      }),
    );
    return { calls, times: times.sort((a, b) => a - b) };
  };
  await run(warmUpMs);
  const { calls, times } = await run(forMs);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { rate: (calls / forMs) * 1_000, p50: at(0.5), p99: at(0.99) };
}
