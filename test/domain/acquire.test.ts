import { describe, expect, test } from 'vitest';
import { decideAcquire } from '../../src/domain/acquire.js';
import type { Snapshot } from '../../src/domain/decision.js';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/domain/instant.js';
import type { Caller } from '../../src/domain/principal.js';
import type { LeaseEnd, TaskState } from '../../src/domain/task-state.js';
import {
  ADMIN,
  AGENT,
  CALLERS,
  ended,
  holderOf,
  lease,
  MEMBER,
  NOW,
  otherRun,
  STRANGER,
  snapshot,
} from './snapshots.js';

const acquire = (snap: Snapshot, who: Caller = AGENT, over: { ttl?: number; ended?: boolean } = {}) =>
  decideAcquire(snap, who, over.ended ?? false, {
    executionId: who.executionId ?? '',
    ttl: over.ttl,
    leaseId: 'lease-new',
  });

/** The change of a decision that was no refusal. */
function changeOf(decision: ReturnType<typeof acquire>) {
  if ('problem' in decision || !decision.change) return expect.fail('nothing is to be changed');
  return decision.change;
}

const answerOf = (decision: ReturnType<typeof acquire>) =>
  'problem' in decision ? decision.problem : decision.answer;

/** Steps 3 to 7 of the contract, in their order: the first that applies decides. */
describe('the steps', () => {
  const mine = lease({ holder: holderOf(AGENT) });
  const theirs = lease({ holder: STRANGER });
  const myOtherRun = lease({ holder: holderOf(otherRun(AGENT)) });
  const rows: [string, Partial<TaskState>, object][] = [
    ['3 DONE', { status: 'DONE' }, { kind: 'TASK_CLOSED', status: 'DONE' }],
    ['3 DROPPED', { status: 'DROPPED' }, { kind: 'TASK_CLOSED', status: 'DROPPED' }],
    ['3 QUARANTINED', { status: 'QUARANTINED' }, { kind: 'TASK_CLOSED', status: 'QUARANTINED' }],
    ['3 before 6: closed and blocked', { status: 'DONE', unmet: 1 }, { kind: 'TASK_CLOSED' }],
    ['4 same principal and execution', { lease: mine }, { kind: 'GRANTED', renewed: true }],
    ['4 before 6: its holder, though blocked', { lease: mine, unmet: 2 }, { kind: 'GRANTED', renewed: true }],
    ['5 another principal', { lease: theirs }, { kind: 'HELD', lease: theirs, remaining: MINUTE }],
    ['5 another execution of the same principal', { lease: myOtherRun }, { kind: 'HELD', lease: myOtherRun }],
    ['5 before 6: held and blocked', { lease: theirs, unmet: 1 }, { kind: 'HELD' }],
    ['6 blocked', { unmet: 1 }, { kind: 'DEPENDENCIES_UNMET' }],
    ['7 open, never leased', {}, { kind: 'GRANTED', renewed: false }],
    ['7 open, leased before', { previous: ended() }, { kind: 'GRANTED', renewed: false }],
  ];

  describe.each(rows)('%s', (_step, over, answer) => {
    test.each(['OFF', 'WARN', 'ENFORCE'] as const)('the same in %s', (enforcement) => {
      expect(answerOf(acquire(snapshot(over, { enforcement })))).toMatchObject(answer);
    });
  });

  test.each(Object.entries(CALLERS))('%s: being a person opens nobody’s lease', (_role, who) => {
    expect(answerOf(acquire(snapshot({ lease: theirs }), who))).toMatchObject({ kind: 'HELD' });
    expect(answerOf(acquire(snapshot(), who))).toMatchObject({ kind: 'GRANTED' });
  });
});

describe('a grant', () => {
  test('is one change: status, lease and event, bound to the versions that it was decided on', () => {
    expect(changeOf(acquire(snapshot()))).toEqual({
      taskId: 'task',
      expect: { leaseVersion: 11n, depsVersion: 12n },
      requiresExecution: holderOf(AGENT),
      status: 'IN_PROGRESS',
      lease: {
        op: 'grant',
        leaseId: 'lease-new',
        holder: holderOf(AGENT),
        ttl: 15 * MINUTE,
        inheritAge: false,
        maxAge: DAY,
      },
      events: [
        {
          kind: 'LEASE_ACQUIRED',
          actor: { principal: 'ada', kind: 'AGENT', executionId: 'run-1' },
          payload: { holder: holderOf(AGENT), ttl: 15 * MINUTE, attempt: 1 },
        },
      ],
    });
    expect(acquire(snapshot())).toMatchObject({ ref: 'lease-new' });
  });

  test.each([
    ['RELEASED', 'LEASE_ACQUIRED'],
    ['COMPLETED', 'LEASE_ACQUIRED'],
    ['EXPIRED', 'LEASE_TAKEN_OVER'],
    ['REVOKED', 'LEASE_TAKEN_OVER'],
  ] as [LeaseEnd, string][])('after a lease that ended %s: %s', (end, kind) => {
    const [event] = changeOf(acquire(snapshot({ previous: ended({ end, holder: STRANGER }) }))).events;
    expect(event?.kind).toBe(kind);
    expect(event?.payload).toMatchObject({ attempt: 6 });
    const takeover = { previousHolder: STRANGER, previousEnd: end, previousFencingToken: '5' };
    if (kind === 'LEASE_TAKEN_OVER') expect(event?.payload).toMatchObject(takeover);
    else expect(event?.payload).not.toHaveProperty('previousHolder');
  });

  test('a person’s execution is told with the event, though its token names none', () => {
    const decision = decideAcquire(snapshot(), { ...MEMBER, executionId: undefined }, false, {
      executionId: 'desk',
      ttl: undefined,
      leaseId: 'lease-new',
    });
    expect(changeOf(decision).events[0]?.actor).toMatchObject({ principal: 'mia', executionId: 'desk' });
  });

  test.each([
    ['absent: the default', undefined, 15 * MINUTE],
    ['zero: the default', 0, 15 * MINUTE],
    ['1 s', SECOND, SECOND],
    ['20 min', 20 * MINUTE, 20 * MINUTE],
    ['the maximum', 2 * HOUR, 2 * HOUR],
    ['3 h: the maximum', 3 * HOUR, 2 * HOUR],
    ['the largest int64 that a number holds: the maximum', Number.MAX_SAFE_INTEGER, 2 * HOUR],
  ])('ttl %s', (_name, ttl, applied) => {
    const over = ttl === undefined ? {} : { ttl };
    expect(changeOf(acquire(snapshot(), AGENT, over)).lease).toMatchObject({ ttl: applied });
  });
});

describe('acquiring again as the holder', () => {
  test('extends the same lease: no event, no new token, only while it lives', () => {
    const decision = acquire(snapshot({ lease: lease({ ttl: 3 * MINUTE }) }));
    expect(decision).toMatchObject({ ref: 'lease-5' });
    expect(changeOf(decision)).toEqual({
      taskId: 'task',
      expect: { leaseVersion: 11n },
      before: NOW + MINUTE,
      lease: { op: 'renew', ttl: 3 * MINUTE, maxAge: DAY },
      events: [],
    });
  });

  test('takes a new ttl when one is asked for', () => {
    const change = changeOf(acquire(snapshot({ lease: lease() }), AGENT, { ttl: HOUR }));
    expect(change.lease).toMatchObject({ op: 'renew', ttl: HOUR });
  });
});

describe('an execution that was ended', () => {
  test.each([
    ['a free task', {}],
    ['a held task', { lease: lease({ holder: STRANGER }) }],
    ['a closed task', { status: 'DONE' as const }],
  ])('acquires nothing: %s', (_name, over) => {
    expect(answerOf(acquire(snapshot(over), AGENT, { ended: true }))).toEqual({ kind: 'EXECUTION_ENDED' });
  });
});

describe('the age cap', () => {
  const heldBefore = (agedFrom: number, holder = holderOf(AGENT)) => ({
    previous: ended({ holder, end: 'EXPIRED' }),
    agedFrom,
  });

  test('a regrant to the same execution inherits the age, and is due before it is used up', () => {
    const change = changeOf(acquire(snapshot(heldBefore(NOW - HOUR))));
    expect(change.lease).toMatchObject({ op: 'grant', inheritAge: true, maxAge: DAY });
    expect(change.before).toBe(NOW - HOUR + DAY);
  });

  test.each([
    ['one microsecond before its end: granted', NOW - DAY + 1, 'GRANTED'],
    ['at its end: refused', NOW - DAY, 'MAX_AGE_REACHED'],
    ['past it: refused', NOW - 2 * DAY, 'MAX_AGE_REACHED'],
  ])('%s', (_name, agedFrom, kind) => {
    expect(answerOf(acquire(snapshot(heldBefore(agedFrom))))).toMatchObject({ kind });
  });

  test.each([
    ['another execution of the same principal', holderOf(otherRun(AGENT))],
    ['another principal in an execution of the same name', { principal: 'bob', executionId: 'run-1' }],
  ])('%s starts anew', (_name, holder) => {
    const change = changeOf(acquire(snapshot(heldBefore(NOW - 2 * DAY, holder))));
    expect(change.lease).toMatchObject({ inheritAge: false });
    expect(change).not.toHaveProperty('before');
  });

  test('0 is no cap', () => {
    const change = changeOf(acquire(snapshot(heldBefore(NOW - 1000 * DAY), { maxAge: 0 })));
    expect(change).not.toHaveProperty('before');
    expect(change.lease).toMatchObject({ maxAge: 0 });
  });

  test('a heartbeat past it is a renewal that extends nothing, not a refusal', () => {
    const snap = snapshot({ lease: lease(), agedFrom: NOW - DAY });
    expect(answerOf(acquire(snap))).toEqual({ kind: 'GRANTED', renewed: true });
  });
});

describe('a refusal is recorded, once per task, principal and minute', () => {
  const record = (over: Partial<TaskState>, who: Caller = AGENT) => acquire(snapshot(over), who).record;
  const held = { lease: lease({ holder: STRANGER }) };

  test('with its reason and the holder', () => {
    expect(record(held)).toMatchObject({
      kind: 'ACQUIRE_REFUSED',
      actor: { principal: 'ada', executionId: 'run-1' },
      payload: { reason: 'HELD', holder: STRANGER },
    });
    expect(record({ unmet: 1 })).toMatchObject({ payload: { reason: 'DEPENDENCIES_UNMET' } });
  });

  test('under one key whatever the reason and the execution', () => {
    const key = record(held)?.oncePerMinute;
    expect(key).toBeDefined();
    expect(record({ unmet: 1 })?.oncePerMinute).toBe(key);
    expect(record(held, otherRun(AGENT))?.oncePerMinute).toBe(key);
    expect(record({ ...held, taskId: 'other' })?.oncePerMinute).not.toBe(key);
    expect(record(held, ADMIN)?.oncePerMinute).not.toBe(key);
  });

  test('a grant leaves no such record', () => {
    expect(record({})).toBeUndefined();
    expect(record({ lease: lease() })).toBeUndefined();
  });
});
