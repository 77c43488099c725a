import type { Snapshot } from '../../src/domain/decision.js';
import { HOUR, MINUTE, SECOND } from '../../src/domain/instant.js';
import type { Caller } from '../../src/domain/principal.js';
import type { Settings } from '../../src/domain/settings.js';
import type { CurrentLease, EndedLease, TaskState } from '../../src/domain/task-state.js';
import type { GuardedRequest } from '../../src/domain/write.js';

/** The clock of every snapshot, unless a test says otherwise. */
export const NOW = 1_700_000_000 * SECOND;

export const SETTINGS: Settings = {
  enforcement: 'ENFORCE',
  defaultTtl: 15 * MINUTE,
  maxTtl: 2 * HOUR,
  maxAge: 24 * HOUR,
  maxExpiries: 5,
};

const caller = (principal: string, kind: Caller['kind'], role: Caller['role']): Caller => ({
  principal,
  kind,
  role,
  owner: false,
  executionId: 'run-1',
});

export const AGENT = caller('ada', 'AGENT', 'agent');
export const MEMBER = caller('mia', 'PERSON', 'member');
export const ADMIN = caller('root', 'PERSON', 'admin');
export const CALLERS = { agent: AGENT, member: MEMBER, admin: ADMIN } as const;

export const holderOf = ({ principal, executionId = '' }: Caller) => ({ principal, executionId });
/** The same principal, but another run of it. */
export const otherRun = (who: Caller): Caller => ({ ...who, executionId: 'run-2' });
export const STRANGER = { principal: 'bob', executionId: 'run-9' };

export function lease(over: Partial<CurrentLease> = {}): CurrentLease {
  return {
    id: 'lease-5',
    holder: holderOf(AGENT),
    grantedAt: NOW - MINUTE,
    expiresAt: NOW + MINUTE,
    ttl: 2 * MINUTE,
    ...over,
  };
}

export function ended(over: Partial<EndedLease> = {}): EndedLease {
  return {
    id: 'lease-5',
    holder: holderOf(AGENT),
    fencingToken: 5n,
    end: 'RELEASED',
    endedAt: NOW - MINUTE,
    ...over,
  };
}

/** A task that was never leased, unless a test says otherwise. */
export function state(over: Partial<TaskState> = {}): TaskState {
  return {
    taskId: 'task',
    status: over.lease ? 'IN_PROGRESS' : 'OPEN',
    unmet: 0,
    blockers: 0,
    dependents: 0,
    leaseVersion: 11n,
    depsVersion: 12n,
    contentVersion: 13n,
    fencingToken: over.lease || over.previous ? 5n : 0n,
    lease: undefined,
    previous: undefined,
    agedFrom: over.lease?.grantedAt,
    attempt: over.lease || over.previous ? 5 : 0,
    expiriesInARow: 0,
    noteCount: 0,
    ...over,
  };
}

export function snapshot(over: Partial<TaskState> = {}, settings: Partial<Settings> = {}): Snapshot {
  return { now: NOW, state: state(over), settings: { ...SETTINGS, ...settings } };
}

/** A write as it comes in, without a proof. */
export function bare(over: Partial<GuardedRequest> = {}): GuardedRequest {
  return {
    rpc: 'UpdateTask',
    proof: undefined,
    proofLeaseTaskId: undefined,
    overrideReason: undefined,
    ...over,
  };
}

/** A write with the proof of the lease that {@link lease} and {@link ended} make. */
export function proven(over: Partial<GuardedRequest> = {}): GuardedRequest {
  return bare({ proof: { leaseId: 'lease-5', fencingToken: 5n }, proofLeaseTaskId: 'task', ...over });
}
