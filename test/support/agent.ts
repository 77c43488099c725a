import { durationFromMs, type Timestamp } from '@bufbuild/protobuf/wkt';
import { type Holdfast, Refused } from '@holdfast/client';
import type { AcquireLeaseResponse, Lease } from '@holdfast/proto/lease';
import type { Micros } from '../../src/domain/instant.js';

/** A granted lease, as its holder needs it. */
export interface Held {
  readonly taskId: string;
  readonly leaseId: string;
  readonly fencingToken: bigint;
  /** By the database's clock. */
  readonly expiresAt: Micros;
}

export interface AcquireOptions {
  readonly ttlMs?: number;
  readonly requestId?: string;
  readonly signal?: AbortSignal;
}

export const proofOf = ({ leaseId, fencingToken }: Held) => ({ leaseId, fencingToken });

function microsOf(timestamp: Timestamp | undefined): Micros {
  if (!timestamp) throw new Error('an answer without the instant that it should have');
  return Number(timestamp.seconds) * 1_000_000 + timestamp.nanos / 1_000;
}

function heldOf(lease: Lease | undefined): Held {
  if (!lease) throw new Error('an answer without the lease that it should have');
  const { id: leaseId, taskId, fencingToken } = lease;
  return { taskId, leaseId, fencingToken, expiresAt: microsOf(lease.expiresAt) };
}

/** One execution of one principal: the calls that races are made of, on a connection of its own. */
export class Agent {
  readonly holdfast: Holdfast;

  constructor(holdfast: Holdfast) {
    this.holdfast = holdfast;
  }

  get executionId(): string {
    return this.holdfast.executionId;
  }

  /** Grant or refusal, as the server says it. */
  async ask(taskId: string, options: AcquireOptions = {}): Promise<AcquireLeaseResponse['outcome']> {
    const { ttlMs, requestId = '', signal } = options;
    const { outcome } = await this.holdfast.leases.acquireLease(
      {
        taskId,
        executionId: this.executionId,
        requestId,
        ...(ttlMs !== undefined && { ttl: durationFromMs(ttlMs) }),
      },
      signal ? { signal } : {},
    );
    return outcome;
  }

  /** The lease, or undefined when it was refused. */
  async tryAcquire(taskId: string, options?: AcquireOptions): Promise<Held | undefined> {
    const outcome = await this.ask(taskId, options);
    return outcome.case === 'grant' ? heldOf(outcome.value.lease) : undefined;
  }

  /** @throws Refused */
  async acquire(taskId: string, options?: AcquireOptions): Promise<Held> {
    const outcome = await this.ask(taskId, options);
    if (outcome.case === 'refusal') throw new Refused(outcome.value);
    return heldOf(outcome.value?.lease);
  }

  async renew({ leaseId, fencingToken }: Held, ttlMs?: number): Promise<Held> {
    const { lease } = await this.holdfast.leases.renewLease({
      leaseId,
      fencingToken,
      ...(ttlMs !== undefined && { ttl: durationFromMs(ttlMs) }),
    });
    return heldOf(lease);
  }

  release({ leaseId, fencingToken }: Held) {
    return this.holdfast.leases.releaseLease({ leaseId, fencingToken });
  }

  complete(held: Held, { result = '', requestId = '' } = {}) {
    const { executionId } = this;
    return this.holdfast.tasks.completeTask({
      taskId: held.taskId,
      executionId,
      result,
      requestId,
      proof: proofOf(held),
    });
  }

  note(held: Held, text: string, requestId = '') {
    const { executionId } = this;
    return this.holdfast.tasks.addNote({
      taskId: held.taskId,
      executionId,
      text,
      requestId,
      proof: proofOf(held),
    });
  }

  /** Creates a task and answers its id. */
  async createTask(title = 'a task', requestId = ''): Promise<string> {
    const { task } = await this.holdfast.tasks.createTask({
      title,
      requestId,
      executionId: this.executionId,
    });
    if (!task) throw new Error('CreateTask answered without a task');
    return task.id;
  }
}
