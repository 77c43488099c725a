import type { Proof, WriteRejection } from '@holdfast/proto/guard';
import type { AcquireLeaseResponse } from '@holdfast/proto/lease';
import type { Note, Task } from '@holdfast/proto/task';

/** What a demo agent can be told to do. Each is RPCs of its own process, and resolves with the server's answer. */
export interface AgentActs {
  /** The open steps of a plan. */
  look(planId: string): Promise<Task[]>;
  /** Asks for a lease; a granted one is kept renewed for as long as the process lives. */
  acquire(taskId: string, ttlMs: number): Promise<AcquireLeaseResponse['outcome']>;
  note(taskId: string, text: string, proof: SentProof): Promise<Note | undefined>;
  complete(taskId: string, result: string, proof: SentProof): Promise<Completion>;
}

/** The proof that a write carries. */
type SentProof = Pick<Proof, 'leaseId' | 'fencingToken'>;

/** A completed task, or why the write guard refused it. */
type Completion = { task: Task | undefined } | { rejection: WriteRejection };

/** From the demo to an agent's process. */
export interface Command {
  id: number;
  act: keyof AgentActs;
  arguments: unknown[];
}

/** From an agent's process to the demo: that it listens, or what came of a command. */
export type Report = 'listening' | { id: number; answer: unknown } | { id: number; error: string };
