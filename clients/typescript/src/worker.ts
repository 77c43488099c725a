import { Code, ConnectError } from '@connectrpc/connect';
import { RefusalReason } from '@holdfast/proto/lease';
import type { Task } from '@holdfast/proto/task';
import type { Wanted } from './acquire.js';
import { sleep, systemClock } from './clock.js';
import { LeaseLost, Refused, WriteRejected } from './errors.js';
import type { HeldLease } from './held-lease.js';
import type { Holdfast } from './holdfast.js';
import { Setbacks } from './setbacks.js';
import { type WithLeaseOptions, withLease } from './with-lease.js';

/** Works on one task. What it returns is the task's result, unless it completed or dropped the task itself. */
// biome-ignore lint/suspicious/noConfusingVoidType: a handler that returns nothing is one, too.
export type TaskHandler = (held: HeldLease) => Promise<string | void>;

/** Which ready tasks are taken. */
export interface ReadyFilter {
  planId?: string;
  /** Only tasks with all of these. */
  labels?: string[];
  /** Only tasks meant for this principal. */
  assignee?: string;
}

/** How one task is taken and worked on. */
export interface WorkOptions extends WithLeaseOptions {
  next?: ReadyFilter;
}

/** How a worker works. */
export interface WorkerOptions extends Omit<WorkOptions, 'waitMs'> {
  /** Takes no more tasks once it fires; a handler that runs goes on. */
  signal?: AbortSignal;
  /** So many failures of the handler on one task, and the worker leaves it to others. 3 by default. */
  mostFailures?: number;
  /** Told when a handler threw: the task was given back, with the error's message as a note. */
  onFailed?: (error: unknown, task: Task) => void;
  /** Told of what passes by itself, such as a server that is away: tried again in `inMs`. */
  onTrouble?: (error: unknown, inMs: number) => void;
}

/** A call waits so long for a task; an idle worker is a call a minute. In ms. */
const WAIT_MS = 50_000;
/** While tasks that failed are left alone, the others are looked for so often. In ms. */
const LOOK_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
const MOST_NOTE_CHARACTERS = 1_000;

/**
 * Takes the best ready task, runs `handler` on it under a lease, and completes it with what the handler returned. When the
 * handler throws, the task is given back with the error's message as a note for the next one.
 *
 * @returns the task; undefined: none became ready within `waitMs`
 * @throws what the handler throws
 */
export async function workNext(
  holdfast: Holdfast,
  handler: TaskHandler,
  { next = {}, ...options }: WorkOptions = {},
): Promise<Task | undefined> {
  try {
    return await workOn(holdfast, { next }, handler, options);
  } catch (error) {
    if (isRefusal(error, RefusalReason.NOTHING_READY)) return undefined;
    throw error;
  }
}

/**
 * Takes one ready task after the other and runs `handler` on each, as {@link workNext} does, until `options.signal` fires.
 * A task whose handler threw is left alone for a while. Lost leases and a server that is away do not end it.
 *
 * @throws what trying again does not help against: a wrong token, an ended execution
 */
export async function worker(
  holdfast: Holdfast,
  handler: TaskHandler,
  { next = {}, mostFailures = 3, onFailed, onTrouble, ...options }: WorkerOptions = {},
): Promise<void> {
  const { signal, clock = systemClock } = options;
  const setbacks = new Setbacks(mostFailures, () => clock.now().monotonicMs);
  const pause = (ms: number) => sleep(clock, ms, signal).catch(() => {});

  /** @returns false when there was nothing to take */
  async function workOnce(): Promise<boolean> {
    const resting = setbacks.resting;
    // The server would offer the failed task again, and again: look for another one.
    const other = resting.size > 0 ? await bestReady(holdfast, options.project, next, resting) : undefined;
    if (resting.size > 0 && !other) return false;
    let taken: Task | undefined;
    let failure: { error: unknown } | undefined;
    const work: TaskHandler = async (held) => {
      taken = held.task;
      try {
        return await handler(held);
      } catch (error) {
        failure = { error };
        throw error;
      }
    };
    try {
      await workOn(holdfast, other ? { taskId: other.id } : { next }, work, {
        ...options,
        ...(other ? {} : { waitMs: WAIT_MS }),
      });
      if (taken) setbacks.succeeded(taken.id);
    } catch (error) {
      if (!taken || failure?.error !== error) throw error;
      if (!(error instanceof LeaseLost)) setbacks.failed(taken.id);
      onFailed?.(error, taken);
    }
    return true;
  }

  for (let troubles = 0; !signal?.aborted; ) {
    try {
      if (!(await workOnce())) await pause(LOOK_MS);
      troubles = 0;
    } catch (error) {
      if (signal?.aborted) return;
      if (isTaken(error)) continue;
      if (!isPassing(error)) throw error;
      const inMs = Math.min(500 * 2 ** troubles++, LONGEST_PAUSE_MS) * (0.5 + Math.random());
      onTrouble?.(error, inMs);
      await pause(inMs);
    }
  }
}

async function workOn(
  holdfast: Holdfast,
  wanted: Wanted,
  handler: TaskHandler,
  options: WithLeaseOptions,
): Promise<Task> {
  return withLease(
    holdfast,
    wanted,
    async (held) => {
      let result: string;
      try {
        result = (await handler(held)) ?? '';
      } catch (error) {
        held.releaseNote ||= messageOf(error);
        throw error;
      }
      if (!held.closed) await held.complete(result);
      return held.task;
    },
    options,
  );
}

/** The best ready task that is none of those to pass over. */
export async function bestReady(
  holdfast: Holdfast,
  project = '',
  filter: ReadyFilter,
  passedOver: ReadonlySet<string>,
): Promise<Task | undefined> {
  const pageSize = Math.min(passedOver.size + 1, 1_000);
  const { tasks } = await holdfast.tasks.listReadyTasks({ project, ...filter, pageSize });
  return tasks.find(({ id }) => !passedOver.has(id));
}

function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  return [...text].slice(0, MOST_NOTE_CHARACTERS).join('');
}

function isRefusal(error: unknown, ...reasons: RefusalReason[]): boolean {
  return error instanceof Refused && reasons.includes(error.refusal.reason);
}

/** Nothing was ready, or somebody else was faster: try the next. */
function isTaken(error: unknown): boolean {
  return isRefusal(
    error,
    RefusalReason.NOTHING_READY,
    RefusalReason.HELD,
    RefusalReason.DEPENDENCIES_UNMET,
    RefusalReason.TASK_CLOSED,
    RefusalReason.LEASE_ENDED,
  );
}

/** Whether trying again later may help. A lost lease is one: the task is somebody else's now. */
function isPassing(error: unknown): boolean {
  if (error instanceof LeaseLost || error instanceof WriteRejected) return true;
  if (!(error instanceof ConnectError)) return false;
  return [Code.Unavailable, Code.Aborted, Code.DeadlineExceeded, Code.ResourceExhausted].includes(error.code);
}
