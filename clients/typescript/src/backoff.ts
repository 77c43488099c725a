/** How long to wait before a call's next attempt: longer from attempt to attempt, as the server asks at least. In ms. */
export function retryPauseMs(attempt: number, random: number, retryAfterMs = 0): number {
  return Math.max(retryAfterMs, Math.min(100 * 2 ** (attempt - 1), 2_000) * (0.5 + random / 2));
}

/** How long a watch waits after so many failures in a row before it connects again. In ms. */
export function watchPauseMs(failures: number, random: number): number {
  return Math.min(250 * 2 ** (failures - 1), 10_000) * (0.5 + random / 2);
}
