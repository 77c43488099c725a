import type { Store } from '../store/store.js';
import { readLiveLeases } from '../store/watch-log.js';
import type { Background, FaultListener } from './background.js';
import { tasksIn } from './renewal-hints.js';
import type { Followed } from './watcher.js';

/** Renewals are told together, so many milliseconds after the first. */
const TOGETHER_MS = 200;
/** How many tasks one read looks up; what is beyond is told by a later renewal. */
const READ_AT_ONCE = 2_000;

export interface RenewalReader extends Background {
  /** Leases were renewed, on this replica or another. */
  hint(payload: string): void;
}

/** Reads the new deadlines of renewed leases of watched projects, a few times a second at most. */
export function createRenewalReader(
  store: Store,
  projects: ReadonlyMap<string, Followed>,
  tell: (followed: Followed) => Promise<void>,
  onFault: FaultListener,
): RenewalReader {
  let hinted = new Map<string, Set<string>>();
  let timer: NodeJS.Timeout | undefined;
  let reading: Promise<void> | undefined;

  const read = async () => {
    const tasks = new Map([...hinted].map(([project, ids]) => [project, [...ids]]));
    hinted = new Map();
    for (const [project, live] of await readLiveLeases(store, tasks)) {
      const followed = projects.get(project);
      if (followed?.states.push(live)) await tell(followed);
    }
  };
  const start = () => {
    reading = read()
      .catch((error) => onFault('reading renewed leases', error))
      .finally(() => {
        reading = undefined;
        timer = undefined;
        if (hinted.size > 0) timer = setTimeout(start, TOGETHER_MS);
      });
  };

  return {
    hint(payload) {
      for (const [project, taskIds] of tasksIn(payload)) {
        if (!projects.has(project)) continue;
        const ids = hinted.get(project) ?? new Set();
        for (const id of taskIds) if (ids.size < READ_AT_ONCE) ids.add(id);
        hinted.set(project, ids);
      }
      if (hinted.size > 0) timer ??= setTimeout(start, TOGETHER_MS);
    },
    async stop() {
      clearTimeout(timer);
      hinted.clear();
      await reading;
    },
  };
}
