import { platform } from '#platform';

type Release = (signal: string) => Promise<void>;

const releases = new Set<Release>();
let stopListening = () => {};

/**
 * Calls `release` when the process is asked to end and nothing else in the program handles that. One listener a process,
 * however many leases it holds; the returned function undoes it.
 */
export function beforeProcessEnds(release: Release): () => void {
  if (releases.size === 0) {
    stopListening = platform.beforeProcessEnds(async (signal) => {
      await Promise.allSettled([...releases].map((one) => one(signal)));
    });
  }
  releases.add(release);
  return () => {
    releases.delete(release);
    if (releases.size === 0) stopListening();
  };
}
