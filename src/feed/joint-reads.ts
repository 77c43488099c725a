import pLimit from 'p-limit';

/**
 * Reads that many ask for at once: those who ask for the same thing share one read, also one that is under way
 * already and shows an older state, and only so many reads run at a time, so that a thousand who come back together
 * leave the pool to others.
 *
 * @param atOnce how many reads may run at a time
 */
export function createJointReads(atOnce: number): <T>(key: string, read: () => Promise<T>) => Promise<T> {
  const limit = pLimit(atOnce);
  const running = new Map<string, Promise<unknown>>();
  return <T>(key: string, read: () => Promise<T>): Promise<T> => {
    const found = running.get(key) as Promise<T> | undefined;
    if (found) return found;
    const reading = limit(read).finally(() => running.delete(key));
    running.set(key, reading);
    return reading;
  };
}
