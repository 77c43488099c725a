/** What the feed does by itself, until it is stopped. */
export interface Background {
  /** Ends it and waits for what is under way. May be called twice. */
  stop(): Promise<void>;
}

/** Told when a background job fails; the job goes on at its next turn. */
export type FaultListener = (job: string, error: unknown) => void;

/** The longest time that Node's timers take; longer ones would fire at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;
