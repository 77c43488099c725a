import { create } from '@bufbuild/protobuf';
import { durationMs, type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import type { Holder } from '@holdfast/proto/guard';
import { type Event, EventKind } from '@holdfast/proto/history';
import type { Lease } from '@holdfast/proto/lease';
import { type Plan, PlanSchema, type Task, TaskSchema, TaskStatus } from '@holdfast/proto/task';

/** A live lease, as the board shows it. Times in milliseconds since 1970, by the server's clock. */
export interface HeldLease {
  readonly taskId: string;
  readonly holder: Holder | undefined;
  readonly fencingToken: bigint;
  readonly attempt: number;
  readonly grantedAtMs: number;
  readonly expiresAtMs: number;
  readonly ttlMs: number;
}

/** The newest note of a task. */
export interface LastNote {
  readonly text: string;
  readonly author: string;
  readonly at: Timestamp | undefined;
}

/** A note that is not known is read when its card needs it. */
const MOST_NOTES = 5_000;

/** How a project stands, kept up to date by its events. */
export class Board {
  readonly tasks = new Map<string, Task>();
  readonly leases = new Map<string, HeldLease>();
  readonly plans = new Map<string, Plan>();
  /** Of the tasks whose newest note is known; null: there is none. */
  readonly lastNotes = new Map<string, LastNote | null>();

  /** The leases there are; what was known of others is forgotten. */
  setLeases(leases: readonly Lease[]): void {
    this.leases.clear();
    for (const lease of leases) this.leases.set(lease.taskId, heldLease(lease));
  }

  /** The newest note of a task, or that it has none. Those of tasks without a lease, which no card shows, go first. */
  setNote(taskId: string, note: LastNote | null): void {
    this.lastNotes.set(taskId, note);
    if (this.lastNotes.size <= MOST_NOTES) return;
    for (const id of this.lastNotes.keys()) if (!this.leases.has(id)) this.lastNotes.delete(id);
  }

  /** New deadlines of leases that are known. */
  renew(leases: readonly Lease[]): void {
    for (const lease of leases) {
      const known = this.leases.get(lease.taskId);
      if (known?.fencingToken !== lease.fencingToken) continue;
      const renewed = heldLease(lease);
      // A renewal never shortens a lease: this may be older than what is known.
      if (renewed.expiresAtMs > known.expiresAtMs) this.leases.set(lease.taskId, renewed);
    }
  }

  /**
   * Takes in what happened.
   *
   * @returns the tasks of which the event does not tell all that changed: they have to be read again
   */
  apply(event: Event): string[] {
    const { kind, taskId, payload } = event;
    switch (payload.case) {
      case 'taskCreated': {
        const { labels, blockedBy, parentId, planId, ...about } = payload.value;
        if (!this.tasks.has(taskId)) {
          this.tasks.set(
            taskId,
            create(TaskSchema, {
              id: taskId,
              project: event.project,
              title: about.title,
              status: about.status,
              priority: about.priority,
              externalKey: about.externalKey,
              labels,
              planId,
              parentId,
              blockedBy,
              // The last until it is read.
              planOrder: planId ? 2 ** 31 - 1 : 0,
              unmetDependencies: blockedBy.filter((id) => this.tasks.get(id)?.status !== TaskStatus.DONE)
                .length,
              createdBy: event.actor,
              ...(event.at && { createdAt: event.at }),
            }),
          );
        }
        return parentId ? [taskId, parentId] : [taskId];
      }
      case 'taskUpdated':
        return [taskId];
      case 'taskReady':
        this.#change(taskId, {
          unmetDependencies: 0,
          ...(!this.leases.has(taskId) && { status: TaskStatus.OPEN }),
        });
        return [];
      case 'taskCompleted':
        this.#close(event, TaskStatus.DONE, payload.value.result);
        return [];
      case 'taskDropped':
        this.#close(event, TaskStatus.DROPPED, payload.value.reason);
        return [];
      case 'taskReopened':
        this.#change(taskId, { status: TaskStatus.OPEN });
        return [taskId, ...payload.value.blockedAgain];
      case 'taskQuarantined':
        this.#change(taskId, { status: TaskStatus.QUARANTINED, expiriesInARow: payload.value.expiries });
        return [];
      case 'taskRequeued':
        this.#change(taskId, { status: TaskStatus.OPEN, expiriesInARow: 0 });
        return [];
      case 'taskDeleted':
        this.tasks.delete(taskId);
        this.leases.delete(taskId);
        this.lastNotes.delete(taskId);
        return payload.value.detached;
      case 'noteAdded':
        this.setNote(taskId, { text: payload.value.text, author: event.actor, at: event.at });
        return [];
      case 'dependency':
        return [taskId];
      case 'plan':
        this.#plan(event, payload.value.planId, payload.value.title);
        return [];
      case 'leaseGranted': {
        const { holder, expiresAt, ttl, attempt } = payload.value;
        const grantedAtMs = event.at ? timestampMs(event.at) : 0;
        const ttlMs = ttl ? durationMs(ttl) : 0;
        const known = this.leases.get(taskId);
        // An event may tell again what the snapshot showed, with an older deadline.
        if (known && known.fencingToken >= event.fencingToken) return [];
        this.leases.set(taskId, {
          taskId,
          holder,
          fencingToken: event.fencingToken,
          attempt,
          grantedAtMs,
          ttlMs,
          expiresAtMs: expiresAt ? timestampMs(expiresAt) : grantedAtMs + ttlMs,
        });
        this.#change(taskId, { status: TaskStatus.IN_PROGRESS, attempt, fencingToken: event.fencingToken });
        return [];
      }
      case 'leaseEnded':
        this.#endLease(event, payload.value.expiriesInARow);
        return [];
      default:
        return kind === EventKind.WRITE_WARNED || kind === EventKind.WRITE_OVERRIDDEN ? [taskId] : [];
    }
  }

  #change(taskId: string, change: Partial<Task>): void {
    const task = this.tasks.get(taskId);
    if (task) this.tasks.set(taskId, { ...task, ...change });
  }

  #close({ taskId, actor, at }: Event, status: TaskStatus, result: string): void {
    this.#change(taskId, { status, result, closedBy: actor, ...(at && { closedAt: at }) });
  }

  #endLease({ taskId, fencingToken }: Event, expiriesInARow: number): void {
    // An event may tell again what the snapshot showed: a newer lease stays.
    if ((this.leases.get(taskId)?.fencingToken ?? 0n) <= fencingToken) this.leases.delete(taskId);
    const task = this.tasks.get(taskId);
    if (task?.status === TaskStatus.IN_PROGRESS && !this.leases.has(taskId)) {
      this.#change(taskId, { status: TaskStatus.OPEN, expiriesInARow });
    }
  }

  #plan({ project, actor, at }: Event, id: string, title: string): void {
    const known = this.plans.get(id);
    const plan = known ?? create(PlanSchema, { id, project, createdBy: actor, ...(at && { createdAt: at }) });
    this.plans.set(id, { ...plan, title });
  }
}

function heldLease(lease: Lease): HeldLease {
  return {
    taskId: lease.taskId,
    holder: lease.holder,
    fencingToken: lease.fencingToken,
    attempt: lease.attempt,
    grantedAtMs: lease.grantedAt ? timestampMs(lease.grantedAt) : 0,
    expiresAtMs: lease.expiresAt ? timestampMs(lease.expiresAt) : 0,
    ttlMs: lease.ttl ? durationMs(lease.ttl) : 0,
  };
}
