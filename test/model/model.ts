/**
 * What the contract says of leases and guarded writes, as a small model of its own: no line of the product
 * is used. One task is one object; time is a number; an expiry is recorded when somebody comes across it.
 */

type Mode = 'OFF' | 'WARN' | 'ENFORCE';
export type Status = 'OPEN' | 'IN_PROGRESS' | 'DONE' | 'DROPPED' | 'QUARANTINED';
export type End = 'RELEASED' | 'COMPLETED' | 'EXPIRED' | 'REVOKED';

export interface Rules {
  readonly mode: Mode;
  /** Microseconds, as everywhere. */
  readonly defaultTtl: number;
  readonly maxTtl: number;
  /** 0: no cap. */
  readonly maxAge: number;
  /** 0: never. */
  readonly maxExpiries: number;
}

export interface Who {
  readonly principal: string;
  readonly role: 'agent' | 'member' | 'admin';
  /** Empty for a person that names none. */
  readonly execution: string;
}

export interface ModelLease {
  /** The real one's, once it was granted. */
  id: string;
  readonly task: ModelTask;
  readonly token: number;
  readonly principal: string;
  readonly execution: string;
  readonly attempt: number;
  readonly grantedAt: number;
  expiresAt: number;
  ttl: number;
  end: End | undefined;
  endedAt: number | undefined;
  endedBy: string;
  endReason: string;
}

export interface ModelEvent {
  readonly kind: string;
  readonly at: number;
  /** `principal/execution`; empty when nobody did it. */
  readonly actor: string;
  readonly token: number;
  readonly told: string;
  repeats: number;
}

export interface ModelTask {
  /** The real one's. */
  id: string;
  readonly key: string;
  status: Status;
  token: number;
  /** Until its end is recorded. */
  lease: ModelLease | undefined;
  previous: ModelLease | undefined;
  agedFrom: number | undefined;
  attempt: number;
  expiries: number;
  title: string;
  result: string;
  closedBy: string;
  /** The lease whose proof closed it as DONE. */
  completedWith: ModelLease | undefined;
  lastNote: string | undefined;
  deleted: boolean;
  /** What happened, step by step: the order within a step is nobody's business. */
  readonly steps: ModelEvent[][];
  readonly once: Map<string, ModelEvent>;
}

export interface Proof {
  readonly leaseId: string;
  /** The lease of that id, if there is one. */
  readonly lease: ModelLease | undefined;
  readonly token: number;
}

export interface AcquireCall {
  readonly task: ModelTask;
  readonly who: Who;
  readonly ttl: number;
  /** Empty: none. */
  readonly requestId: string;
}

/** The answer that tells a failure. */
export type Failure = { readonly error: string; readonly field?: string; readonly holder?: string };

export const fail = (error: string, over: Omit<Failure, 'error'> = {}): Failure => ({ error, ...over });

const MINUTE = 60_000_000;

export class Model {
  /** The tasks that are there now, by their external keys. */
  readonly tasks = new Map<string, ModelTask>();
  readonly everyTask: ModelTask[] = [];
  readonly leases: ModelLease[] = [];
  /** The counters that outlive deletion. */
  private readonly fences = new Map<string, number>();
  readonly ended = new Set<string>();
  /** Applied acquires, by principal and request id. */
  readonly remembered = new Map<string, { body: string; call: AcquireCall; lease: ModelLease }>();

  constructor(
    readonly rules: Rules,
    public now: number,
  ) {}

  create(key: string, title: string, who: Who): ModelTask | undefined {
    if (this.tasks.has(key)) return undefined;
    const task: ModelTask = {
      id: '',
      key,
      status: 'OPEN',
      token: this.fences.get(key) ?? 0,
      lease: undefined,
      previous: undefined,
      agedFrom: undefined,
      attempt: 0,
      expiries: 0,
      title,
      result: '',
      closedBy: '',
      completedWith: undefined,
      lastNote: undefined,
      deleted: false,
      steps: [],
      once: new Map(),
    };
    this.tasks.set(key, task);
    this.everyTask.push(task);
    this.tell(
      task,
      this.event(task, 'TASK_CREATED', who),
      this.event(task, 'TASK_READY', undefined, 'CREATED'),
    );
    return task;
  }

  remove(task: ModelTask): void {
    task.deleted = true;
    this.tasks.delete(task.key);
    this.fences.set(task.key, task.token);
  }

  isLive(task: ModelTask): boolean {
    return task.lease !== undefined && this.now < task.lease.expiresAt;
  }

  holds(lease: ModelLease | undefined, who: Who): boolean {
    return lease !== undefined && lease.principal === who.principal && lease.execution === who.execution;
  }

  holderOf(task: ModelTask): string {
    return task.lease && this.isLive(task) ? `${task.lease.principal}/${task.lease.execution}` : '';
  }

  /** Whoever comes across a lapsed lease records it first. */
  settle(task: ModelTask): void {
    const { lease } = task;
    if (!lease || this.isLive(task)) return;
    task.expiries += 1;
    const quarantined = this.rules.maxExpiries > 0 && task.expiries >= this.rules.maxExpiries;
    this.end(task, 'EXPIRED', '', quarantined ? 'QUARANTINED' : 'OPEN');
    this.tell(
      task,
      this.event(
        task,
        'LEASE_EXPIRED',
        undefined,
        `${told(lease)} EXPIRED #${task.expiries} ${task.lastNote ?? ''}`,
      ),
      quarantined
        ? this.event(task, 'TASK_QUARANTINED', undefined, `${task.expiries}`)
        : this.event(task, 'TASK_READY', undefined, 'EXPIRED'),
    );
  }

  sweep(): void {
    for (const task of this.tasks.values()) this.settle(task);
  }

  grant(task: ModelTask, who: Who, ttl: number): ModelLease | undefined {
    const last = task.previous;
    const sameAgain = this.holds(last, who) && task.agedFrom !== undefined;
    const agedFrom = sameAgain && task.agedFrom !== undefined ? task.agedFrom : this.now;
    const limit = this.rules.maxAge === 0 ? Number.POSITIVE_INFINITY : agedFrom + this.rules.maxAge;
    if (this.now >= limit) return undefined;
    task.agedFrom = agedFrom;
    task.token += 1;
    task.attempt += 1;
    task.status = 'IN_PROGRESS';
    const applied = Math.min(ttl || this.rules.defaultTtl, this.rules.maxTtl);
    const lease: ModelLease = {
      id: '',
      task,
      token: task.token,
      principal: who.principal,
      execution: who.execution,
      attempt: task.attempt,
      grantedAt: this.now,
      expiresAt: Math.min(this.now + applied, limit),
      ttl: applied,
      end: undefined,
      endedAt: undefined,
      endedBy: '',
      endReason: '',
    };
    task.lease = lease;
    this.leases.push(lease);
    const takeover = last?.end === 'EXPIRED' || last?.end === 'REVOKED';
    const terms = `${told(lease)} ttl ${applied} attempt ${lease.attempt}`;
    this.tell(
      task,
      takeover
        ? this.event(
            task,
            'LEASE_TAKEN_OVER',
            who,
            `${terms} after ${last.principal}/${last.execution} ${last.end} ${last.token}`,
          )
        : this.event(task, 'LEASE_ACQUIRED', who, terms),
    );
    return lease;
  }

  /** Never shortens, never passes the age cap. */
  renew(lease: ModelLease, ttl: number): void {
    const limit =
      this.rules.maxAge === 0 ? Number.POSITIVE_INFINITY : (lease.task.agedFrom ?? 0) + this.rules.maxAge;
    lease.ttl = Math.min(ttl || lease.ttl, this.rules.maxTtl);
    lease.expiresAt = Math.max(lease.expiresAt, Math.min(this.now + lease.ttl, limit));
  }

  end(task: ModelTask, end: End, by: string, status: Status, reason = ''): void {
    const { lease } = task;
    if (!lease) throw new Error('there is no lease to end');
    lease.end = end;
    lease.endedAt = this.now;
    lease.endedBy = by;
    lease.endReason = reason;
    task.previous = lease;
    task.lease = undefined;
    task.status = status;
  }

  /** Given back: by its holder, or because its execution was ended. */
  release(task: ModelTask, who: Who, cause: 'RELEASED' | 'EXECUTION_ENDED', note?: string): void {
    const lease = task.lease as ModelLease;
    this.end(task, 'RELEASED', who.principal, 'OPEN');
    task.expiries = 0;
    this.tell(
      task,
      ...(note ? [this.note(task, who, note)] : []),
      this.event(task, 'LEASE_RELEASED', who, `${told(lease)} ${cause}`),
      this.event(task, 'TASK_READY', undefined, 'RELEASED'),
    );
  }

  note(task: ModelTask, who: Who, text: string): ModelEvent {
    task.lastNote = text;
    return this.event(task, 'NOTE_ADDED', who, text);
  }

  /** The table "The write guard". */
  verdict(task: ModelTask, who: Who, proof: Proof | undefined): string {
    const live = this.isLive(task);
    const mine = live && this.holds(task.lease, who);
    if (proof) {
      if (proof.leaseId === '') return 'INVALID proof.lease_id';
      if (proof.token < 1) return 'INVALID proof.fencing_token';
      if (proof.lease && proof.lease.task !== task) return 'INVALID proof.lease_id';
      if (proof.token > task.token) return 'INVALID proof.fencing_token';
      if (proof.token < task.token) return 'STALE_LOCK';
      const newest = task.lease ?? task.previous;
      if (newest?.token === proof.token && newest.end === 'REVOKED') return 'STALE_LOCK';
      if (!live) return 'LOCK_EXPIRED';
      return mine && proof.lease === task.lease ? 'ALLOWED' : 'LOCKED_BY_OTHER';
    }
    if (live && !mine) return 'LOCKED_BY_OTHER';
    if (who.role !== 'agent') return 'ALLOWED';
    // A lapsed lease nobody has recorded yet: the task is as good as open.
    const closed = task.status === 'DONE' || task.status === 'DROPPED' || task.status === 'QUARANTINED';
    return !live && closed ? 'ALLOWED' : 'LOCK_REQUIRED';
  }

  /** A write that was let through under a live lease ends it, when it closes or deletes the task. */
  endUnder(
    task: ModelTask,
    who: Who,
    cause: 'COMPLETED' | 'DROPPED' | 'DELETED',
    status: Status,
  ): ModelEvent[] {
    const { lease } = task;
    if (!lease) {
      task.status = status;
      return [];
    }
    const own = this.holds(lease, who);
    this.end(
      task,
      own ? (cause === 'COMPLETED' ? 'COMPLETED' : 'RELEASED') : 'REVOKED',
      who.principal,
      status,
    );
    return [
      own
        ? this.event(task, 'LEASE_RELEASED', who, `${told(lease)} ${cause}`)
        : this.event(task, 'LEASE_REVOKED', who, `${told(lease)} CLOSED_BY_OTHER`),
    ];
  }

  event(task: ModelTask, kind: string, who: Who | undefined, what = ''): ModelEvent {
    const actor = who ? `${who.principal}/${who.execution}` : '';
    return { kind, at: this.now, actor, token: task.token, told: what, repeats: 0 };
  }

  tell(task: ModelTask, ...events: ModelEvent[]): void {
    if (events.length > 0) task.steps.push(events);
  }

  /** A fault that is listed once a minute and counted from then on. Undefined: counted. */
  once(task: ModelTask, key: string, event: ModelEvent, forever = false): ModelEvent | undefined {
    const slot = forever ? key : `${key} ${Math.floor(this.now / MINUTE)}`;
    const known = task.once.get(slot);
    if (known) {
      known.repeats += 1;
      return undefined;
    }
    task.once.set(slot, event);
    return event;
  }
}

/** Who held it. */
export const told = (lease: ModelLease): string => `${lease.principal}/${lease.execution}`;
