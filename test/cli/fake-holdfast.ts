import { create } from '@bufbuild/protobuf';
import { durationFromMs, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, type ConnectRouter } from '@connectrpc/connect';
import { LeaseState, type Proof, WriteCode, WriteRejectionSchema } from '@holdfast/proto/guard';
import { PrincipalKind } from '@holdfast/proto/history';
import { type Lease, LeaseSchema, LeaseService, RefusalReason } from '@holdfast/proto/lease';
import { ProjectService, Role } from '@holdfast/proto/project';
import { type Plan, PlanSchema, type Task, TaskSchema, TaskService, TaskStatus } from '@holdfast/proto/task';

/**
 * As much of a server as the command's own behaviour needs: one principal, an agent, in ENFORCE. What a test wants to
 * look at afterwards is public.
 */
export class FakeHoldfast {
  readonly tasks: Task[] = [];
  readonly plans: Plan[] = [];
  readonly leases = new Map<string, Lease>();
  readonly notes: string[] = [];
  readonly tokensSeen = new Set<string | null>();
  /** The TTL of every lease, in milliseconds. */
  ttlMs = 60_000;
  /** Refuse renewals, as after a takeover. */
  losesLeases = false;

  readonly routes = (router: ConnectRouter): void => {
    router.service(ProjectService, {
      whoAmI: (_request, { requestHeader }) => {
        const authorization = requestHeader.get('authorization');
        this.tokensSeen.add(authorization);
        if (authorization === 'Bearer hf_wrong')
          throw new ConnectError('no such token', Code.Unauthenticated);
        return { principal: 'builder', kind: PrincipalKind.AGENT, role: Role.AGENT, project: 'default' };
      },
    });
    router.service(TaskService, {
      createTask: ({ title, body, externalKey, planId }) => {
        if (externalKey && this.tasks.some((task) => task.externalKey === externalKey)) {
          throw new ConnectError('the external key is in use', Code.AlreadyExists);
        }
        return { task: this.addTask({ title, body, externalKey, planId }) };
      },
      getTask: ({ taskId, externalKey }) => ({ task: this.find(taskId, externalKey), notes: [] }),
      listTasks: ({ pageSize, pageToken }) => {
        const from = Number(pageToken || 0);
        const to = from + (pageSize || 100);
        return { tasks: this.tasks.slice(from, to), nextPageToken: to < this.tasks.length ? String(to) : '' };
      },
      addNote: ({ taskId, text, proof }) => {
        this.guard(taskId, proof);
        this.notes.push(text);
        return {};
      },
      completeTask: ({ taskId, result, proof }) => {
        this.guard(taskId, proof);
        const task = Object.assign(this.find(taskId, ''), { status: TaskStatus.DONE, result });
        return { task };
      },
      createPlan: ({ title, externalKey }) => {
        const plan = create(PlanSchema, { id: `plan-${this.plans.length + 1}`, title, externalKey });
        this.plans.push(plan);
        return { plan };
      },
      getPlan: ({ externalKey }) => {
        const plan = this.plans.find((one) => one.externalKey === externalKey);
        if (!plan) throw new ConnectError('no such plan', Code.NotFound);
        return { plan, steps: this.tasks.filter(({ planId }) => planId === plan.id) };
      },
    });
    router.service(LeaseService, {
      acquireLease: ({ taskId, executionId }) => ({ outcome: this.acquire(taskId, executionId) }),
      acquireNextTask: ({ executionId }) => {
        const free = this.tasks.find(({ id, status }) => status === TaskStatus.OPEN && !this.leases.has(id));
        const value = { reason: RefusalReason.NOTHING_READY, advice: 'Come back later.' };
        return { outcome: free ? this.acquire(free.id, executionId) : { case: 'refusal', value } };
      },
      getLease: ({ taskId, executionId }) => {
        const lease = this.leases.get(taskId);
        if (!lease) throw new ConnectError('no lease', Code.NotFound);
        return { lease: { ...lease, id: lease.holder?.executionId === executionId ? lease.id : '' } };
      },
      renewLease: ({ leaseId }) => {
        const lease = [...this.leases.values()].find(({ id }) => id === leaseId);
        if (!lease || this.losesLeases) throw new ConnectError('the lease is over', Code.FailedPrecondition);
        return { lease };
      },
      releaseLease: ({ leaseId, note }) => {
        if (note) this.notes.push(note);
        for (const [taskId, { id }] of this.leases) if (id === leaseId) this.leases.delete(taskId);
        return { lease: { state: LeaseState.RELEASED } };
      },
    });
  };

  addTask(task: Partial<Pick<Task, 'title' | 'body' | 'externalKey' | 'planId'>>): Task {
    const id = `task-${this.tasks.length + 1}`;
    const added = create(TaskSchema, { id, status: TaskStatus.OPEN, fencingToken: 0n, ...task });
    this.tasks.push(added);
    return added;
  }

  private find(taskId: string, externalKey: string): Task {
    const task = this.tasks.find(
      (one) => one.id === taskId || (externalKey && one.externalKey === externalKey),
    );
    if (!task) throw new ConnectError(`There is no task "${taskId || externalKey}".`, Code.NotFound);
    return task;
  }

  private acquire(taskId: string, executionId: string) {
    const task = this.find(taskId, '');
    const held = this.leases.get(taskId);
    if (held && held.holder?.executionId !== executionId) {
      const { holder, expiresAt } = held;
      const alternatives = this.tasks.filter(({ id }) => !this.leases.has(id));
      const advice = 'Take one of the alternatives.';
      const value = {
        reason: RefusalReason.HELD,
        alternatives,
        advice,
        ...(holder && { holder }),
        ...(expiresAt && { expiresAt }),
      };
      return { case: 'refusal' as const, value };
    }
    task.fencingToken += 1n;
    const lease = create(LeaseSchema, {
      id: `lease-of-${taskId}`,
      taskId,
      fencingToken: task.fencingToken,
      holder: { principal: 'builder', executionId },
      state: LeaseState.ACTIVE,
      expiresAt: timestampFromMs(Date.now() + this.ttlMs),
      remaining: durationFromMs(this.ttlMs),
      ttl: durationFromMs(this.ttlMs),
      attempt: Number(task.fencingToken),
    });
    this.leases.set(taskId, lease);
    return { case: 'grant' as const, value: { lease, task } };
  }

  private guard(taskId: string, proof: Proof | undefined): void {
    const lease = this.leases.get(taskId);
    if (lease && proof?.leaseId === lease.id) return;
    const value = {
      code: lease ? WriteCode.LOCKED_BY_OTHER : WriteCode.LOCK_REQUIRED,
      taskId,
      advice: 'Acquire the task first.',
      ...(lease?.holder ? { holder: lease.holder } : {}),
    };
    throw new ConnectError('refused', Code.FailedPrecondition, undefined, [
      { desc: WriteRejectionSchema, value },
    ]);
  }
}
