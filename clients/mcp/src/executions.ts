import type { Holdings } from './holdings.js';

/** How a connection knows on behalf of which execution a call acts. */
export interface Executions {
  /**
   * The execution of a call: the one it names, else the connection's own. Undefined where there is neither.
   * It is only a name: what it holds is the caller's alone, by the server's check of principal and execution.
   */
  of(named: string | undefined): string | undefined;
  /** The execution of an acquire, which may begin one. */
  begin(named: string | undefined): string;
  /** Shows that the execution is at work: renews its leases, and tells what it holds. */
  active(executionId: string): Promise<Holdings>;
  /** A lease was granted to it, to live so many milliseconds. */
  granted(executionId: string, ttlMs: number): void;
  /** Ends it and frees what it holds. Returns the tasks that this freed. */
  end(executionId: string): Promise<{ freed: string[]; alreadyEnded: boolean }>;
}
