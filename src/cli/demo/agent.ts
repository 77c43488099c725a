import type { Connection } from '../connection.js';
import type { AgentActs } from './agent-acts.js';

/** Who an agent is: the same again makes its twin. */
export interface AgentIdentity extends Connection {
  /** Its principal, and the name of its lane. */
  readonly name: string;
  readonly executionId: string;
}

/** An agent, whose leases live and die with a process. */
export interface Agent {
  readonly identity: AgentIdentity;
  readonly name: string;
  readonly pid: number;
  /** Has it do something, and resolves with what it was answered. Rejects with what went wrong. */
  ask<Act extends keyof AgentActs>(
    act: Act,
    ...given: Parameters<AgentActs[Act]>
  ): Promise<Awaited<ReturnType<AgentActs[Act]>>>;
  /** Kills its process as a crash would: no goodbye, no release. Resolves when it is gone. */
  kill(): Promise<void>;
}

/** Starts an agent; resolves when it can be asked. */
export type StartAgent = (identity: AgentIdentity) => Promise<Agent>;

/** How long an agent may take for what it is asked, in milliseconds. */
export const ANSWER_WITHIN_MS = 20_000;
