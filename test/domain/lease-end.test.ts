import { describe, expect, test } from 'vitest';
import { DAY, HOUR, MINUTE } from '../../src/domain/instant.js';
import {
  decideExpiry,
  decideForceRelease,
  decideRelease,
  decideRenew,
  type NamedLease,
} from '../../src/domain/lease-end.js';
import type { LeaseEnd, TaskState } from '../../src/domain/task-state.js';
import { ADMIN, AGENT, ended, lease, NOW, otherRun, STRANGER, snapshot } from './snapshots.js';

const named = (over: Partial<NamedLease> = {}): NamedLease => ({
  id: 'lease-5',
  taskId: 'task',
  fencingToken: 5n,
  principal: 'ada',
  end: undefined,
  ...over,
});
const live = { lease: lease(), attempt: 5 };
const note = { id: 'note-1', author: 'ada', executionId: 'run-1', text: 'half way' };
const NO_SUCH_LEASE = { problem: { kind: 'NOT_FOUND' } };

describe('renew', () => {
  const renew = (
    over: Partial<TaskState>,
    which: NamedLease | undefined,
    { who = AGENT, token = 5n, ttl }: { who?: typeof AGENT; token?: bigint; ttl?: number } = {},
    enforcement: 'OFF' | 'WARN' | 'ENFORCE' = 'ENFORCE',
  ) =>
    decideRenew(snapshot(over, { enforcement }), which, who, { fencingToken: token, ttl, note: undefined });

  test('a live lease: a later deadline, no event, no version moved, only before the deadline', () => {
    expect(renew(live, named())).toEqual({
      answer: 'RENEWED',
      change: {
        taskId: 'task',
        expect: { leaseVersion: 11n },
        before: NOW + MINUTE,
        lease: { op: 'renew', ttl: 2 * MINUTE, maxAge: DAY },
        events: [],
      },
    });
  });

  test.each([
    ['absent: as granted', undefined, 2 * MINUTE],
    ['another', HOUR, HOUR],
    ['above the maximum', 5 * HOUR, 2 * HOUR],
  ])('ttl %s', (_name, ttl, applied) => {
    const decision = renew(live, named(), ttl === undefined ? {} : { ttl });
    expect(decision).toMatchObject({ change: { lease: { ttl: applied } } });
  });

  test('of a blocked task: still renewed', () => {
    expect(renew({ ...live, unmet: 1 }, named())).toMatchObject({ answer: 'RENEWED' });
  });

  test('progress rides on it as a note, with its event', () => {
    const decision = decideRenew(snapshot(live), named(), AGENT, { fencingToken: 5n, ttl: undefined, note });
    expect(decision).toMatchObject({
      change: { note, events: [{ kind: 'NOTE_ADDED', payload: { noteId: 'note-1', text: 'half way' } }] },
    });
  });

  const over = (end: LeaseEnd) => named({ end });
  const rows: [string, Partial<TaskState>, NamedLease, string][] = [
    ['expired', { previous: ended({ end: 'EXPIRED' }) }, over('EXPIRED'), 'LOCK_EXPIRED'],
    ['released', { previous: ended() }, over('RELEASED'), 'LOCK_EXPIRED'],
    [
      'completed',
      { previous: ended({ end: 'COMPLETED' }), status: 'DONE' },
      over('COMPLETED'),
      'LOCK_EXPIRED',
    ],
    ['revoked', { previous: ended({ end: 'REVOKED' }) }, over('REVOKED'), 'STALE_LOCK'],
    [
      'taken over by somebody else',
      { lease: lease({ id: 'lease-6', holder: STRANGER }), fencingToken: 6n },
      over('EXPIRED'),
      'STALE_LOCK',
    ],
    [
      'granted anew to the same execution',
      { lease: lease({ id: 'lease-6' }), fencingToken: 6n },
      over('EXPIRED'),
      'STALE_LOCK',
    ],
    [
      'taken over, and that is over too',
      { previous: ended({ id: 'lease-6', fencingToken: 6n }), fencingToken: 6n },
      over('EXPIRED'),
      'STALE_LOCK',
    ],
  ];
  describe.each(rows)('a lease that was %s', (_name, task, which, code) => {
    test.each(['OFF', 'WARN', 'ENFORCE'] as const)(`is ${code} in %s`, (enforcement) => {
      expect(renew(task, which, {}, enforcement)).toMatchObject({
        problem: { kind: 'WRITE_REJECTED', rejection: { code } },
      });
    });
  });

  test('somebody else’s lease is as unknown as one that never was', () => {
    expect(renew(live, named({ principal: 'bob' }))).toEqual(renew(live, undefined));
    expect(renew(live, undefined)).toMatchObject(NO_SUCH_LEASE);
    expect(renew(live, named(), { who: ADMIN })).toMatchObject(NO_SUCH_LEASE);
  });

  test('with another token', () => {
    expect(renew(live, named(), { token: 4n })).toMatchObject({
      problem: { kind: 'INVALID_ARGUMENT', field: 'fencing_token' },
    });
  });
});

describe('release', () => {
  const release = (over: Partial<TaskState>, which: NamedLease | undefined, who = AGENT) =>
    decideRelease(snapshot(over), which, who, { fencingToken: 5n, note: undefined });

  test('ends the lease, frees the task, starts the expiries anew', () => {
    expect(release({ ...live, expiriesInARow: 3 }, named())).toEqual({
      answer: 'RELEASED',
      change: {
        taskId: 'task',
        expect: { leaseVersion: 11n, depsVersion: 12n },
        before: NOW + MINUTE,
        status: 'OPEN',
        expiriesInARow: 0,
        lease: { op: 'end', end: 'RELEASED', by: 'ada' },
        events: [
          expect.objectContaining({
            kind: 'LEASE_RELEASED',
            payload: { holder: lease().holder, cause: 'RELEASED', expiresAt: NOW + MINUTE },
          }),
          { kind: 'TASK_READY', payload: { cause: 'RELEASED' } },
        ],
      },
    });
  });

  test('a blocked task is not ready afterwards', () => {
    const decision = release({ ...live, unmet: 1 }, named());
    expect(JSON.stringify('change' in decision && decision.change?.events)).not.toContain('TASK_READY');
  });

  test('a note rides on it', () => {
    expect(decideRelease(snapshot(live), named(), AGENT, { fencingToken: 5n, note })).toMatchObject({
      change: { note, events: [{ kind: 'NOTE_ADDED' }, { kind: 'LEASE_RELEASED' }, { kind: 'TASK_READY' }] },
    });
  });

  test.each(['RELEASED', 'COMPLETED', 'EXPIRED', 'REVOKED'] as const)(
    'again, after it ended %s: an answer that says so, and no change',
    (end) => {
      const decision = release({ previous: ended({ end }) }, named({ end }));
      expect(decision).toEqual({ answer: 'ALREADY_ENDED' });
    },
  );

  test('of an old lease leaves the new one alone', () => {
    const task = { lease: lease({ id: 'lease-6', holder: STRANGER }), fencingToken: 6n };
    expect(release(task, named({ end: 'EXPIRED' }))).toEqual({ answer: 'ALREADY_ENDED' });
  });

  test('what one does not hold is refused', () => {
    expect(release(live, undefined)).toMatchObject(NO_SUCH_LEASE);
    expect(release(live, named({ principal: 'bob' }))).toMatchObject(NO_SUCH_LEASE);
    expect(release(live, named(), ADMIN)).toMatchObject(NO_SUCH_LEASE);
    expect(release(live, named({ fencingToken: 4n }))).toMatchObject({
      problem: { kind: 'INVALID_ARGUMENT', field: 'fencing_token' },
    });
  });
});

describe('force-release', () => {
  test('revokes, with the reason, and counts as no release', () => {
    expect(decideForceRelease(snapshot({ ...live, expiriesInARow: 3 }), ADMIN, 'stuck')).toEqual({
      answer: 'REVOKED',
      change: {
        taskId: 'task',
        expect: { leaseVersion: 11n, depsVersion: 12n },
        before: NOW + MINUTE,
        status: 'OPEN',
        lease: { op: 'end', end: 'REVOKED', by: 'root', reason: 'stuck' },
        events: [
          {
            kind: 'LEASE_REVOKED',
            actor: { principal: 'root', kind: 'PERSON', executionId: 'run-1' },
            payload: { holder: lease().holder, cause: 'FORCED', expiresAt: NOW + MINUTE, reason: 'stuck' },
          },
          { kind: 'TASK_READY', payload: { cause: 'REVOKED' } },
        ],
      },
    });
  });

  test.each([
    ['never leased', {}],
    ['released', { previous: ended() }],
    ['done', { status: 'DONE' as const, previous: ended({ end: 'COMPLETED' as const }) }],
  ])('a task that is %s: nothing to take away', (_name, over) => {
    expect(decideForceRelease(snapshot(over), ADMIN, 'stuck')).toMatchObject({
      problem: { kind: 'FAILED_PRECONDITION' },
    });
  });
});

describe('expiry', () => {
  const lapsed = lease({ expiresAt: NOW });
  const expire = (over: Partial<TaskState> = {}, maxExpiries = 5, lastNote?: string) =>
    decideExpiry(snapshot({ lease: lapsed, ...over }, { maxExpiries }), lapsed, lastNote);

  test('is recorded from the deadline on, and only if that still is the deadline', () => {
    expect(expire({}, 5, 'got as far as the tests')).toEqual({
      taskId: 'task',
      expect: { leaseVersion: 11n, depsVersion: 12n, expiresAt: NOW },
      notBefore: NOW,
      status: 'OPEN',
      expiriesInARow: 1,
      lease: { op: 'end', end: 'EXPIRED' },
      events: [
        {
          kind: 'LEASE_EXPIRED',
          payload: {
            holder: lapsed.holder,
            cause: 'EXPIRED',
            expiresAt: NOW,
            expiriesInARow: 1,
            lastNote: 'got as far as the tests',
          },
        },
        { kind: 'TASK_READY', payload: { cause: 'EXPIRED' } },
      ],
    });
  });

  test.each([
    { before: 3, max: 5, status: 'OPEN' },
    { before: 4, max: 5, status: 'QUARANTINED' },
    { before: 9, max: 5, status: 'QUARANTINED' },
    { before: 0, max: 1, status: 'QUARANTINED' },
    { before: 999, max: 0, status: 'OPEN' },
  ])('number $before + 1 of at most $max: $status', ({ before, max, status }) => {
    const change = expire({ expiriesInARow: before }, max);
    expect(change).toMatchObject({ status, expiriesInARow: before + 1 });
    const kinds = change.events.map(({ kind }) => kind);
    expect(kinds).toEqual(['LEASE_EXPIRED', status === 'OPEN' ? 'TASK_READY' : 'TASK_QUARANTINED']);
  });

  test('a blocked task is not ready afterwards', () => {
    expect(expire({ unmet: 1 }).events.map(({ kind }) => kind)).toEqual(['LEASE_EXPIRED']);
  });

  test('nobody did it', () => {
    expect(expire().events.every(({ actor }) => actor === undefined)).toBe(true);
  });
});

test('renew and release go by id and token, and the history tells the execution all the same', () => {
  // Neither request names an execution: the id, which only the holder was told, speaks for it.
  const who = { ...otherRun(AGENT), executionId: undefined };
  const request = { fencingToken: 5n, ttl: undefined, note };
  const told = { actor: { principal: 'ada', executionId: 'run-1' } };
  expect(decideRenew(snapshot(live), named(), who, request)).toMatchObject({
    answer: 'RENEWED',
    change: { events: [{ kind: 'NOTE_ADDED', ...told }] },
  });
  expect(decideRelease(snapshot(live), named(), who, request)).toMatchObject({
    answer: 'RELEASED',
    change: { events: [{ kind: 'NOTE_ADDED', ...told }, { kind: 'LEASE_RELEASED', ...told }, {}] },
  });
});
