import { describe, expect, test } from 'vitest';
import type { Decision, Snapshot } from '../../src/domain/decision.js';
import { MINUTE } from '../../src/domain/instant.js';
import type { Caller } from '../../src/domain/principal.js';
import type { Enforcement } from '../../src/domain/settings.js';
import type { TaskState, TaskStatus } from '../../src/domain/task-state.js';
import {
  decideComplete,
  decideDelete,
  decideDrop,
  decideReopen,
  decideRequeue,
} from '../../src/domain/transitions.js';
import type { GuardedRequest } from '../../src/domain/write.js';
import {
  ADMIN,
  AGENT,
  bare,
  CALLERS,
  ended,
  holderOf,
  lease,
  MEMBER,
  NOW,
  otherRun,
  proven,
  STRANGER,
  snapshot,
} from './snapshots.js';

type Transition = 'complete' | 'drop' | 'reopen' | 'requeue' | 'delete';
type Run = (snap: Snapshot, who: Caller, request: GuardedRequest) => Decision<unknown>;

const RUN: Record<Transition, Run> = {
  complete: (snap, who, request) =>
    decideComplete(snap, who, request, 'the result', { closedAt: NOW - MINUTE }),
  drop: (snap, who, request) => decideDrop(snap, who, request, 'a reason'),
  reopen: (snap, who, request) => decideReopen(snap, who, request, 'a reason'),
  requeue: (snap, who) => decideRequeue(snap, who, 'a reason'),
  delete: (snap, who, request) => decideDelete(snap, who, request, { title: 'a task', externalKey: 'key' }),
};

/** The contract's "Transitions": who may start each from which status. */
const ALLOWED: Record<Transition, Record<TaskStatus, 'anyone' | 'people' | 'nobody'>> = {
  complete: {
    OPEN: 'anyone',
    IN_PROGRESS: 'anyone',
    DONE: 'nobody',
    DROPPED: 'nobody',
    QUARANTINED: 'people',
  },
  drop: { OPEN: 'anyone', IN_PROGRESS: 'anyone', DONE: 'nobody', DROPPED: 'nobody', QUARANTINED: 'people' },
  reopen: { OPEN: 'nobody', IN_PROGRESS: 'nobody', DONE: 'anyone', DROPPED: 'anyone', QUARANTINED: 'nobody' },
  requeue: {
    OPEN: 'nobody',
    IN_PROGRESS: 'nobody',
    DONE: 'nobody',
    DROPPED: 'nobody',
    QUARANTINED: 'people',
  },
  delete: { OPEN: 'anyone', IN_PROGRESS: 'anyone', DONE: 'anyone', DROPPED: 'anyone', QUARANTINED: 'anyone' },
};

const transitions = Object.keys(RUN) as Transition[];

/** A task in a status, held by the caller when it is in progress. */
const inStatus = (status: TaskStatus, who: Caller): Partial<TaskState> =>
  status === 'IN_PROGRESS' ? { lease: lease({ holder: holderOf(who) }) } : { status };

/** What the guard has nothing against: the lease's proof in progress, else none where none is needed. */
const welcome = (status: TaskStatus) => (status === 'IN_PROGRESS' ? proven() : bare());

describe.each(transitions)('%s', (transition) => {
  const rows = Object.entries(ALLOWED[transition]).flatMap(([status, who]) =>
    (['agent', 'member', 'admin'] as const).flatMap((role) =>
      (['OFF', 'WARN', 'ENFORCE'] as const).map((mode) => ({
        status: status as TaskStatus,
        role,
        mode,
        allowed: who === 'anyone' || (who === 'people' && role !== 'agent'),
      })),
    ),
  );

  test.each(rows)('from $status by $role in $mode: $allowed', ({ status, role, mode, allowed }) => {
    const who = CALLERS[role];
    const snap = snapshot(inStatus(status, who), { enforcement: mode });
    // An open task that an agent does not hold is the guard's business, not the transition's.
    const guarded = status === 'OPEN' && role === 'agent' && mode === 'ENFORCE' && transition !== 'requeue';
    const decision = RUN[transition](snap, who, welcome(status));
    if (guarded) expect(decision).toMatchObject({ problem: { kind: 'WRITE_REJECTED' } });
    else if (allowed) expect(decision).toHaveProperty('change');
    else expect(decision).toMatchObject({ problem: { kind: 'FAILED_PRECONDITION' } });
  });
});

const changeOf = (decision: Decision<unknown>) =>
  ('change' in decision && decision.change) || expect.fail('nothing is to be changed');
const kindsOf = (decision: Decision<unknown>) => changeOf(decision).events.map(({ kind }) => kind);

describe('what a transition does', () => {
  test('complete: status, result, closer; the expiries start anew', () => {
    const change = changeOf(RUN.complete(snapshot({ lease: lease(), expiriesInARow: 3 }), AGENT, proven()));
    expect(change).toMatchObject({
      expect: { leaseVersion: 11n, depsVersion: 12n },
      before: NOW + MINUTE,
      status: 'DONE',
      expiriesInARow: 0,
      closing: { result: 'the result', by: 'ada' },
      lease: { op: 'end', end: 'COMPLETED', by: 'ada' },
    });
    expect(change.events).toMatchObject([
      { kind: 'TASK_COMPLETED', payload: { result: 'the result' } },
      { kind: 'LEASE_RELEASED', payload: { cause: 'COMPLETED' } },
    ]);
  });

  test('drop: the holder’s lease is given back', () => {
    const change = changeOf(RUN.drop(snapshot({ lease: lease() }), AGENT, proven()));
    expect(change).toMatchObject({
      status: 'DROPPED',
      closing: { by: 'ada' },
      lease: { op: 'end', end: 'RELEASED' },
    });
    expect(change.events).toMatchObject([
      { kind: 'TASK_DROPPED', payload: { reason: 'a reason' } },
      { kind: 'LEASE_RELEASED', payload: { cause: 'DROPPED' } },
    ]);
  });

  test('delete: the row goes, the lease with it', () => {
    const change = changeOf(RUN.delete(snapshot({ lease: lease() }), AGENT, proven()));
    expect(change).toMatchObject({
      remove: { by: { principal: AGENT.principal } },
      lease: { op: 'end', end: 'RELEASED' },
    });
    expect(change.events).toMatchObject([
      { kind: 'LEASE_RELEASED', payload: { cause: 'DELETED' } },
      { kind: 'TASK_DELETED', payload: { title: 'a task', externalKey: 'key' } },
    ]);
  });

  test('delete: tells which plan it was in, and whom it set free', () => {
    const dependents = [{ taskId: 'waiting', acceptDropped: false }];
    const task = { title: 'a task', externalKey: undefined, planId: 'plan' };
    const decision = decideDelete(snapshot({ dependents: 1 }), MEMBER, bare(), task, {
      detach: true,
      dependents,
    });
    expect(changeOf(decision).events.map(({ payload }) => payload)).toEqual([
      { title: 'a task', planId: 'plan', detached: ['waiting'] },
    ]);
  });

  test.each(['DONE', 'DROPPED'] as const)('reopen from %s: open again, and ready', (status) => {
    const change = changeOf(RUN.reopen(snapshot({ status }), AGENT, bare()));
    expect(change).toMatchObject({ status: 'OPEN', closing: 'reopened' });
    expect(change).not.toHaveProperty('lease');
    expect(change.events).toMatchObject([
      { kind: 'TASK_REOPENED', payload: { reason: 'a reason', previousStatus: status } },
      { kind: 'TASK_READY', payload: { cause: 'REOPENED' } },
    ]);
  });

  test('requeue: open again, ready, the expiries start anew', () => {
    const change = changeOf(
      RUN.requeue(snapshot({ status: 'QUARANTINED', expiriesInARow: 5 }), MEMBER, bare()),
    );
    expect(change).toMatchObject({ status: 'OPEN', expiriesInARow: 0 });
    expect(change.events).toMatchObject([
      { kind: 'TASK_REQUEUED', payload: { reason: 'a reason' } },
      { kind: 'TASK_READY', payload: { cause: 'REQUEUED' } },
    ]);
  });

  test.each(['reopen', 'requeue'] as const)('%s of a blocked task: not ready', (transition) => {
    const status = transition === 'reopen' ? 'DONE' : 'QUARANTINED';
    expect(kindsOf(RUN[transition](snapshot({ status, unmet: 1 }), MEMBER, bare()))).not.toContain(
      'TASK_READY',
    );
  });

  test('every one of them counts on who holds the task and on its edges', () => {
    const rows: [Transition, Partial<TaskState>][] = [
      ['complete', { lease: lease() }],
      ['drop', { lease: lease() }],
      ['delete', { lease: lease() }],
      ['reopen', { status: 'DONE' }],
      ['requeue', { status: 'QUARANTINED' }],
    ];
    for (const [transition, over] of rows) {
      const who = transition === 'requeue' ? MEMBER : AGENT;
      const change = changeOf(RUN[transition](snapshot(over), who, over.lease ? proven() : bare()));
      expect(change.expect).toEqual({ leaseVersion: 11n, depsVersion: 12n });
      expect(change.before).toBe(over.lease?.expiresAt);
    }
  });
});

describe('completing a blocked task', () => {
  test.each(
    (['OFF', 'WARN', 'ENFORCE'] as Enforcement[]).flatMap((mode) =>
      Object.entries(CALLERS).map(([role, who]) => ({ mode, role, who })),
    ),
  )('is refused: $mode, $role', ({ mode, who }) => {
    const held = { lease: lease({ holder: holderOf(who) }), unmet: 2 };
    expect(RUN.complete(snapshot(held, { enforcement: mode }), who, proven())).toMatchObject({
      problem: { kind: 'BLOCKED', count: 2 },
    });
    expect(RUN.drop(snapshot(held, { enforcement: mode }), who, proven())).toHaveProperty('change');
  });
});

describe('closing or deleting under a live lease', () => {
  const ends = (decision: Decision<unknown>) => {
    const { lease: end, events } = changeOf(decision);
    return {
      end: end?.op === 'end' ? end.end : undefined,
      by: end?.op === 'end' ? end.by : undefined,
      cause: events.flatMap((e) => ('cause' in e.payload && 'holder' in e.payload ? [e.payload.cause] : [])),
    };
  };
  const revoked = (by: string) => ({ end: 'REVOKED', by, cause: ['CLOSED_BY_OTHER'] });

  describe.each(['complete', 'drop', 'delete'] as const)('%s', (transition) => {
    const theirs = { lease: lease({ holder: STRANGER }) };

    test.each(['OFF', 'WARN'] as const)('somebody else’s, in %s: revoked, naming who did it', (mode) => {
      const run = (who: Caller) => RUN[transition](snapshot(theirs, { enforcement: mode }), who, bare());
      expect(ends(run(AGENT))).toEqual(revoked('ada'));
      expect(ends(run(MEMBER))).toEqual(revoked('mia'));
      expect(kindsOf(run(AGENT))).toContain('LEASE_REVOKED');
    });

    test('by an admin’s override in ENFORCE: revoked', () => {
      const decision = RUN[transition](snapshot(theirs), ADMIN, bare({ overrideReason: 'shipped by hand' }));
      expect(ends(decision)).toEqual(revoked('root'));
    });

    test('by another execution of the holder’s principal: somebody else’s', () => {
      const held = { lease: lease({ holder: holderOf(otherRun(AGENT)) }) };
      expect(ends(RUN[transition](snapshot(held, { enforcement: 'WARN' }), AGENT, bare()))).toEqual(
        revoked('ada'),
      );
    });

    test('the caller’s own without its proof, in WARN: its own end, no revocation', () => {
      const decision = RUN[transition](snapshot({ lease: lease() }, { enforcement: 'WARN' }), AGENT, bare());
      expect(ends(decision).end).toBe(transition === 'complete' ? 'COMPLETED' : 'RELEASED');
    });
  });
});

describe('completing again', () => {
  const done = (over: Partial<TaskState> = {}): Partial<TaskState> => ({
    status: 'DONE',
    previous: ended({ end: 'COMPLETED' }),
    ...over,
  });
  const again = (
    over: Partial<TaskState>,
    request = proven(),
    who: Caller = AGENT,
    mode: Enforcement = 'ENFORCE',
  ) => RUN.complete(snapshot(over, { enforcement: mode }), who, request);

  test.each(['OFF', 'WARN', 'ENFORCE'] as const)(
    'with the proof that completed it, in %s: the first result',
    (mode) => {
      expect(again(done(), proven(), AGENT, mode)).toEqual({ answer: 'ALREADY_COMPLETED' });
    },
  );

  test.each([
    ['another lease id', proven({ proof: { leaseId: 'lease-4', fencingToken: 5n } })],
    ['an older token', proven({ proof: { leaseId: 'lease-5', fencingToken: 4n } })],
    ['no proof', bare()],
  ])('with %s: refused', (_name, request) => {
    expect(again(done(), request)).toHaveProperty('problem');
  });

  test.each([
    ['by another principal', done(), MEMBER],
    [
      'that was reopened and closed by somebody else since',
      done({ previous: ended({ end: 'COMPLETED', endedAt: NOW - 2 * MINUTE }) }),
      AGENT,
    ],
    ['of a dropped task', done({ status: 'DROPPED' }), AGENT],
    ['of a reopened task', done({ status: 'OPEN' }), AGENT],
    ['that somebody else closed under the lease', done({ previous: ended({ end: 'REVOKED' }) }), AGENT],
  ])('%s: refused', (_name, over, who) => {
    expect(again(over, proven(), who)).toHaveProperty('problem');
  });
});
