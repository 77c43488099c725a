/** What a demo agent can be told to do, over whichever client it has. Each resolves with what it was answered. */
export interface AgentActs {
  /** The steps of a plan that can be taken. */
  look(planId: string): Promise<Step[]>;
  /** Asks for a lease; a granted one is kept renewed for as long as the agent's process lives. */
  acquire(taskId: string, ttlMs: number): Promise<Acquired>;
  /** Leaves a note, and resolves with its text as the server keeps it. */
  note(taskId: string, text: string, proof: Held): Promise<string | undefined>;
  complete(taskId: string, result: string, proof: Held): Promise<Completion>;
}

interface Step {
  readonly id: string;
  readonly title: string;
}

/** A lease, as its holder proves it. */
export interface Held {
  readonly leaseId: string;
  readonly fencingToken: bigint;
}

export type Acquired = { readonly grant: Granted } | { readonly refusal: Refused };

/** A granted lease, and what the holder before left. */
export interface Granted extends Held {
  readonly attempt: number;
  /** The holder's principal; absent for the first holder. */
  readonly previousHolder?: string;
  /** How that holder's lease ended, such as EXPIRED. */
  readonly previousEnd?: string;
  readonly lastNote?: string;
}

interface Refused {
  /** Such as HELD. */
  readonly reason: string;
  readonly holder?: { readonly principal: string; readonly executionId: string };
}

/** A completed task, or why the write guard refused it. */
type Completion = { readonly status: string; readonly result: string } | { readonly rejection: Rejected };

interface Rejected {
  /** Such as STALE_LOCK. */
  readonly code: string;
  /** The principal that holds the task now. */
  readonly holder?: string;
  /** The task's newest fencing token, where the agent is told it. */
  readonly fencingToken?: bigint;
  /** What the agent is told to do. */
  readonly advice: string;
}
