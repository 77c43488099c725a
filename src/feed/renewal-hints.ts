import { notify } from '../store/notify.js';
import type { Store } from '../store/store.js';
import type { Background, FaultListener } from './background.js';
import { LEASES } from './hints.js';

/** Between two tellings, in milliseconds. */
const EVERY_MS = 250;
/** Postgres takes no longer payloads than 8,000 bytes. */
const PAYLOAD_BYTES = 7_900;
/** How many payloads one telling has at most, and how many tasks may wait for the next. */
const PAYLOADS = 8;
const WAITING = 10_000;

export interface RenewalHints extends Background {
  /** A lease was renewed here. Never blocks, never throws. */
  renewed(project: string, taskId: string): void;
}

/**
 * Tells all replicas whose leases were renewed here, many at once and outside of any write, for a notification takes a
 * lock that all notifying commits share. Best effort: what is lost is told by the next renewal.
 */
export function createRenewalHints(store: Store, onFault: FaultListener): RenewalHints {
  /** By project and task, in the order of their renewals. */
  const waiting = new Map<string, readonly [project: string, taskId: string]>();
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> | undefined;

  const send = () => {
    const payloads = takePayloads(waiting);
    sending = notify(store, LEASES, payloads)
      .catch((error) => onFault('telling renewals', error))
      .finally(() => {
        sending = undefined;
        timer = waiting.size > 0 ? setTimeout(send, EVERY_MS) : undefined;
      });
  };

  return {
    renewed(project, taskId) {
      if (waiting.size >= WAITING) return;
      waiting.set(JSON.stringify([project, taskId]), [project, taskId]);
      timer ??= setTimeout(send, EVERY_MS);
    },
    async stop() {
      clearTimeout(timer);
      await sending;
    },
  };
}

/** Takes the oldest as far as they fit: `{"project": ["task", …]}`, each payload within its limit. */
function takePayloads(waiting: Map<string, readonly [string, string]>): string[] {
  const payloads: string[] = [];
  let tasks: Record<string, string[]> = {};
  let bytes = 2;
  const close = () => {
    if (bytes > 2) payloads.push(JSON.stringify(tasks));
    tasks = {};
    bytes = 2;
  };
  for (const [key, [project, taskId]] of waiting) {
    // A key of the map holds both and the quotes; three more bytes for the rest.
    const size = Buffer.byteLength(key) + 3;
    if (bytes + size > PAYLOAD_BYTES) close();
    if (payloads.length === PAYLOADS) return payloads;
    tasks[project] = [...(tasks[project] ?? []), taskId];
    bytes += size;
    waiting.delete(key);
  }
  close();
  return payloads;
}

/** The tasks that a payload names, by project. Anybody with access to the database may have sent it. */
export function tasksIn(payload: string): [project: string, taskIds: string[]][] {
  try {
    const parsed = Object.entries(JSON.parse(payload) as Record<string, unknown>);
    return parsed.flatMap(([project, ids]): [string, string[]][] =>
      Array.isArray(ids) ? [[project, ids.filter((id): id is string => typeof id === 'string')]] : [],
    );
  } catch {
    return [];
  }
}
