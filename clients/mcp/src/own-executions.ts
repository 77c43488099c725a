import { type Clock, type Holdfast, systemClock } from '@holdfast/client';
import type { Executions } from './executions.js';
import { type Holdings, nothingHeld } from './holdings.js';
import { LeaseKeeper } from './lease-keeper.js';

/** How a process that serves one agent tells its executions. */
export interface OwnExecutionsOptions {
  holdfast: Holdfast;
  project: string;
  /** The execution that somebody chose for this process; it may hold leases already. Absent: one of its own. */
  given: string | undefined;
  /** How long after the agent's last call its leases are still renewed, in milliseconds. */
  idleMs: number;
  clock?: Clock;
}

/** The executions of a process that serves one agent and ends with it: its own, and those that calls name. */
export class OwnExecutions implements Executions {
  #own: string;
  readonly #keepers = new Map<string, LeaseKeeper>();
  /** Those that end with this process: what it acquired, and its own once a tool was called in its name. */
  readonly #mine = new Set<string>();

  constructor(private readonly options: OwnExecutionsOptions) {
    this.#own = options.given ?? crypto.randomUUID();
  }

  of(named: string | undefined): string {
    return named ?? this.#own;
  }

  begin(named: string | undefined): string {
    const executionId = named ?? this.#own;
    this.#keep(executionId);
    return executionId;
  }

  async active(executionId: string): Promise<Holdings> {
    // One that somebody named may have acquired through another client; a new one of our own has nothing yet.
    if (executionId === this.options.given) this.#mine.add(executionId);
    const isNew = executionId === this.#own && executionId !== this.options.given;
    if (isNew && !this.#keepers.has(executionId)) return nothingHeld();
    return this.#keep(executionId).active();
  }

  granted(executionId: string, ttlMs: number): void {
    this.#mine.add(executionId);
    this.#keep(executionId).granted(ttlMs);
  }

  async end(executionId: string): Promise<{ freed: string[]; alreadyEnded: boolean }> {
    this.#keepers.get(executionId)?.stop();
    this.#keepers.delete(executionId);
    this.#mine.delete(executionId);
    const { holdfast, project, given } = this.options;
    const { released, alreadyEnded } = await holdfast.leases.endExecution({ project, executionId });
    if (executionId === this.#own && executionId !== given) this.#own = crypto.randomUUID();
    return { freed: released.map(({ taskId }) => taskId), alreadyEnded };
  }

  /**
   * Ends all executions that are this process's. Not one that nobody called a tool for: some clients start a second
   * process only to look at it, and both were given the same. For its end: never rejects, and takes 5 s at most.
   */
  async endAll(): Promise<void> {
    const { holdfast, project } = this.options;
    for (const keeper of this.#keepers.values()) keeper.stop();
    await Promise.allSettled(
      [...this.#mine].map((executionId) =>
        holdfast.leases.endExecution({ project, executionId }, { timeoutMs: 5_000 }),
      ),
    );
  }

  #keep(executionId: string): LeaseKeeper {
    const there = this.#keepers.get(executionId);
    if (there) return there;
    const { holdfast, project, idleMs, clock = systemClock } = this.options;
    const keeper = new LeaseKeeper({ holdfast, project, executionId, idleMs, clock });
    this.#keepers.set(executionId, keeper);
    return keeper;
  }
}
