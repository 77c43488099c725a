import { grantNext, type NextRequest, type NextResult } from '../store/acquire-next.js';
import type { QueueFilter } from '../store/queue-list.js';
import type { Store } from '../store/store.js';
import type { Background, FaultListener } from './background.js';

/** How many calls are served at once: a round reads so many candidates. */
const SERVED_AT_ONCE = 64;
/** Replicas that wake on the same hint spread over so many milliseconds. */
const JITTER_MS = 20;

export interface WaitingRoom extends Background {
  /**
   * Grants the best ready task, or waits for one. First come, first served among the calls with one filter.
   *
   * @param waitMs how long to wait until something becomes ready; 0: answer at once
   * @param signal gives up the place; a grant under way still happens, and its lease runs out if unused
   */
  next(
    project: string,
    filter: QueueFilter,
    request: NextRequest,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<Served>;
  /** A task of this project may have become ready. */
  wake(project: string): void;
  /** A task of any project may have become ready. */
  wakeAll(): void;
}

/** What a call is answered with; a failure is thrown. */
type Served = Exclude<NextResult, { kind: 'FAILED' }>;

interface Visitor {
  readonly request: NextRequest;
  readonly patient: boolean;
  readonly leave: (result: Served) => void;
  readonly fail: (error: unknown) => void;
}

/** The visitors with one project and filter, in the order of their coming. */
interface Line {
  readonly project: string;
  readonly filter: QueueFilter;
  visitors: Visitor[];
  serving: boolean;
  /** Something came while a round was under way: it may have missed it. */
  again: boolean;
  wakeUp: NodeJS.Timeout | undefined;
}

/**
 * Where calls for the next task are served, in one line for each filter. A thousand waiting calls cost one read
 * of candidates when something becomes ready, and one grant.
 */
export function createWaitingRoom(store: Store, onFault: FaultListener, pollMs = 1_000): WaitingRoom {
  const lines = new Map<string, Line>();

  const lineFor = (project: string, filter: QueueFilter): Line => {
    const key = JSON.stringify([project, filter.planId, [...filter.labels].sort(), filter.assignee]);
    const line = lines.get(key) ?? {
      project,
      filter,
      visitors: [],
      serving: false,
      again: false,
      wakeUp: undefined,
    };
    lines.set(key, line);
    return line;
  };

  const serve = async (line: Line) => {
    if (line.serving) {
      line.again = true;
      return;
    }
    line.serving = true;
    try {
      do {
        line.again = false;
        await serveRound(line);
      } while (line.again);
    } finally {
      line.serving = false;
      for (const [key, { visitors, serving }] of lines)
        if (visitors.length === 0 && !serving) lines.delete(key);
    }
  };

  const serveRound = async (line: Line) => {
    const served = line.visitors.slice(0, SERVED_AT_ONCE);
    if (served.length === 0) return;
    const results = await grantNext(
      store,
      line.project,
      line.filter,
      served.map(({ request }) => request),
    );
    let empty = false;
    let failed = false;
    for (const [i, visitor] of served.entries()) {
      const result = results[i] as NextResult;
      if (result.kind === 'FAILED') {
        // Those who wait keep their place; the next hint or poll tries again.
        failed = true;
        onFault('serving the next task', result.error);
        if (!visitor.patient) visitor.fail(result.error);
      } else if (result.kind !== 'NOTHING_READY' || !visitor.patient) visitor.leave(result);
      if (result.kind === 'NOTHING_READY') empty = true;
    }
    // For those behind there is nothing either; if all were served, there may be.
    if (empty) {
      for (const { patient, leave } of line.visitors.slice(SERVED_AT_ONCE)) {
        if (!patient) leave({ kind: 'NOTHING_READY' });
      }
    } else if (!failed && line.visitors.length > 0) {
      line.again = true;
    }
  };

  const wakeLine = (line: Line) => {
    if (line.visitors.length === 0) return;
    line.wakeUp ??= setTimeout(() => {
      line.wakeUp = undefined;
      serve(line).catch((error) => onFault('serving the next task', error));
    }, Math.random() * JITTER_MS);
  };

  const wakeAll = () => {
    for (const line of lines.values()) wakeLine(line);
  };
  const poll = setInterval(wakeAll, pollMs);
  poll.unref();

  return {
    next: (project, filter, request, waitMs, signal) =>
      new Promise<Served>((resolve, reject) => {
        const line = lineFor(project, filter);
        const gone = () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', onAbort);
          line.visitors = line.visitors.filter((other) => other !== visitor);
        };
        const visitor: Visitor = {
          request,
          patient: waitMs > 0,
          leave: (result) => {
            gone();
            resolve(result);
          },
          fail: (error) => {
            gone();
            reject(error);
          },
        };
        const onAbort = () => visitor.fail(signal.reason);
        const timer =
          waitMs > 0 ? setTimeout(() => visitor.leave({ kind: 'NOTHING_READY' }), waitMs) : undefined;
        if (signal.aborted) {
          onAbort();
          return;
        }
        signal.addEventListener('abort', onAbort);
        line.visitors.push(visitor);
        serve(line).catch((error) => onFault('serving the next task', error));
      }),
    wake: (project) => {
      for (const line of lines.values()) if (line.project === project) wakeLine(line);
    },
    wakeAll,
    async stop() {
      clearInterval(poll);
      for (const line of lines.values()) clearTimeout(line.wakeUp);
    },
  };
}
