import { describe, expect, test } from 'vitest';
import { decideNote, decideUpdate } from '../../src/domain/content.js';
import type { Decision, Snapshot } from '../../src/domain/decision.js';
import type { WriteCode } from '../../src/domain/event.js';
import type { Caller } from '../../src/domain/principal.js';
import type { Enforcement } from '../../src/domain/settings.js';
import { decideComplete, decideDelete, decideDrop, decideReopen } from '../../src/domain/transitions.js';
import type { GuardedRequest } from '../../src/domain/write.js';
import {
  ADMIN,
  AGENT,
  bare,
  CALLERS,
  ended,
  holderOf,
  lease,
  NOW,
  proven,
  STRANGER,
  snapshot,
} from './snapshots.js';

/** The contract's table of modes: what becomes of a write with a bad verdict, and what the history tells. */
const MODES: Record<Enforcement, { done: boolean; event: string | undefined }> = {
  OFF: { done: true, event: undefined },
  WARN: { done: true, event: 'WRITE_WARNED' },
  ENFORCE: { done: false, event: 'WRITE_REJECTED' },
};
const modes = Object.keys(MODES) as Enforcement[];

/** A task that was not closed. */
const OPEN = { closedAt: undefined };

/** One way to each code, for a caller. */
const BAD: Record<WriteCode, (who: Caller) => { snap: Snapshot; request: GuardedRequest } | undefined> = {
  LOCK_REQUIRED: (who) => (who.kind === 'AGENT' ? { snap: snapshot(), request: bare() } : undefined),
  LOCK_EXPIRED: (who) => ({
    snap: snapshot({ previous: ended({ holder: holderOf(who), end: 'EXPIRED' }) }),
    request: proven(),
  }),
  LOCKED_BY_OTHER: () => ({ snap: snapshot({ lease: lease({ holder: STRANGER }) }), request: bare() }),
  STALE_LOCK: (who) => ({
    snap: snapshot({ previous: ended({ holder: holderOf(who), end: 'REVOKED' }) }),
    request: proven(),
  }),
};

const cases = (Object.keys(BAD) as WriteCode[]).flatMap((code) =>
  (Object.keys(CALLERS) as (keyof typeof CALLERS)[]).flatMap((role) =>
    modes.flatMap((mode) => (BAD[code](CALLERS[role]) ? [{ code, role, mode, ...MODES[mode] }] : [])),
  ),
);

const note = (who: Caller) => ({
  id: 'note-1',
  author: who.principal,
  executionId: who.executionId,
  text: 'half way',
});

const inMode = (snap: Snapshot, enforcement: Enforcement): Snapshot => ({
  ...snap,
  settings: { ...snap.settings, enforcement },
});

/** What a decision says in the words of the table. */
function told(decision: Decision<unknown>) {
  const events = 'problem' in decision ? [] : (decision.change?.events ?? []);
  const kinds = [...events, ...(decision.record ? [decision.record] : [])].map((event) => event.kind);
  return {
    done: !('problem' in decision),
    event: kinds.find((kind) => kind.startsWith('WRITE_')),
  };
}

describe('a write with a bad verdict', () => {
  test.each(cases)('$code, $role, $mode: done $done, event $event', ({ code, role, mode, done, event }) => {
    const who = CALLERS[role];
    const { snap, request } = BAD[code](who) ?? expect.fail();
    const decision = decideNote(inMode(snap, mode), who, request, note(who));
    expect(told(decision)).toEqual({ done, event });
    if (mode === 'ENFORCE') expect(decision).toMatchObject({ problem: { rejection: { code } } });
  });

  test.each(cases)(
    '$code, $role, $mode: the same for every kind of write',
    ({ code, role, mode, done, event }) => {
      const who = CALLERS[role];
      const { snap: base, request } = BAD[code](who) ?? expect.fail();
      const snap = inMode(base, mode);
      const content = { title: 'a', body: '', priority: 0, labels: [], assignee: '' };
      const closed = { ...snap, state: { ...snap.state, lease: undefined, status: 'DONE' as const } };
      const decisions = {
        update: decideUpdate(snap, who, request, content, { title: 'b' }, undefined),
        complete: decideComplete(snap, who, request, 'done', OPEN),
        drop: decideDrop(snap, who, request, 'no use'),
        delete: decideDelete(snap, who, request, { title: 'a', externalKey: undefined }),
        // Only a closed task can be reopened, and that one needs no lease.
        ...(snap.state.lease || code === 'LOCK_REQUIRED'
          ? {}
          : { reopen: decideReopen(closed, who, request, 'once more') }),
      };
      const expected = Object.fromEntries(Object.keys(decisions).map((name) => [name, { done, event }]));
      expect(Object.fromEntries(Object.entries(decisions).map(([k, d]) => [k, told(d)]))).toEqual(expected);
    },
  );
});

describe('an admin’s override_reason', () => {
  test.each(cases.filter(({ role }) => role === 'admin'))('$code, $mode', ({ code, mode }) => {
    const { snap, request } = BAD[code](ADMIN) ?? expect.fail();
    const overridden = { ...request, overrideReason: 'the holder is on leave' };
    const decision = decideNote(inMode(snap, mode), ADMIN, overridden, note(ADMIN));
    // In OFF there is no verdict to override.
    expect(told(decision)).toEqual({ done: true, event: mode === 'OFF' ? undefined : 'WRITE_OVERRIDDEN' });
    if (mode === 'OFF' || 'problem' in decision) return;
    expect(decision.change?.events[0]).toEqual({
      kind: 'WRITE_OVERRIDDEN',
      actor: { principal: 'root', kind: 'PERSON', executionId: 'run-1' },
      payload: expect.objectContaining({ code, rpc: 'UpdateTask', overrideReason: 'the holder is on leave' }),
    });
  });

  test.each((['agent', 'member'] as const).flatMap((role) => modes.map((mode) => ({ role, mode }))))(
    'from $role in $mode: PERMISSION_DENIED, even when nothing is in the way',
    ({ role, mode }) => {
      const who = CALLERS[role];
      const snap = snapshot({ lease: lease({ holder: holderOf(who) }) }, { enforcement: mode });
      const decision = decideNote(snap, who, proven({ overrideReason: 'please' }), note(who));
      expect(decision).toMatchObject({ problem: { kind: 'PERMISSION_DENIED' } });
    },
  );

  test('is not audited when the write needs none', () => {
    const decision = decideNote(snapshot(), ADMIN, bare({ overrideReason: 'to be sure' }), note(ADMIN));
    expect(told(decision)).toEqual({ done: true, event: undefined });
  });

  test('does not reach transitions or dependencies', () => {
    const request = bare({ overrideReason: 'now' });
    const foreign = { holder: STRANGER };
    expect(decideComplete(snapshot({ status: 'DONE' }), ADMIN, request, '', OPEN)).toMatchObject({
      problem: { kind: 'FAILED_PRECONDITION' },
    });
    expect(
      decideComplete(snapshot({ lease: lease(foreign), unmet: 1 }), ADMIN, request, '', OPEN),
    ).toMatchObject({
      problem: { kind: 'BLOCKED', count: 1 },
    });
  });

  test('does not make a proof of another task acceptable', () => {
    const request = proven({ proofLeaseTaskId: 'another task', overrideReason: 'now' });
    expect(decideNote(snapshot(), ADMIN, request, note(ADMIN))).toMatchObject({
      problem: { kind: 'INVALID_ARGUMENT' },
    });
  });
});

describe('a proof that is none (row 1)', () => {
  test.each([
    { mode: 'OFF', result: { answer: 'NOTED' } },
    { mode: 'WARN', result: { problem: { kind: 'INVALID_ARGUMENT' } } },
    { mode: 'ENFORCE', result: { problem: { kind: 'INVALID_ARGUMENT' } } },
  ] as const)('$mode', ({ mode, result }) => {
    const decision = decideNote(
      snapshot({}, { enforcement: mode }),
      AGENT,
      bare({ proof: { leaseId: '', fencingToken: 0n } }),
      note(AGENT),
    );
    expect(decision).toMatchObject(result);
    expect(told(decision).event).toBeUndefined();
  });
});

describe('what the history keeps of a verdict', () => {
  test('who holds the task, the token that was sent, and the RPC', () => {
    const snap = snapshot({ lease: lease({ holder: STRANGER }) });
    expect(decideNote(snap, AGENT, proven({ rpc: 'AddNote' }), note(AGENT)).record).toMatchObject({
      kind: 'WRITE_REJECTED',
      actor: { principal: 'ada', kind: 'AGENT', executionId: 'run-1' },
      payload: { rpc: 'AddNote', code: 'LOCKED_BY_OTHER', holder: STRANGER, proofToken: '5' },
    });
  });

  test('the result of a refused completion, and of nothing else', () => {
    const snap = snapshot({ previous: ended({ end: 'REVOKED' }) });
    const kept = (decision: Decision<unknown>) =>
      (decision.record?.payload as { keptResult?: string } | undefined)?.keptResult;
    expect(kept(decideComplete(snap, AGENT, proven(), 'three days of work', OPEN))).toBe(
      'three days of work',
    );
    expect(kept(decideComplete(snap, AGENT, proven(), '', OPEN))).toBeUndefined();
    expect(kept(decideDrop(snap, AGENT, proven(), 'a reason'))).toBeUndefined();
    const warned = decideComplete(
      { ...snap, settings: { ...snap.settings, enforcement: 'WARN' } },
      AGENT,
      proven(),
      'work',
      OPEN,
    );
    expect(JSON.stringify('change' in warned && warned.change?.events)).not.toContain('keptResult');
  });

  test('one entry per task, principal, code and RPC a minute', () => {
    const key = (over: { who?: Caller; snap?: Snapshot; rpc?: string }) => {
      const { who = AGENT, snap = snapshot(), rpc = 'AddNote' } = over;
      return decideNote(snap, who, bare({ rpc }), note(who)).record?.oncePerMinute;
    };
    const first = key({});
    expect(first).toBeDefined();
    expect(key({ who: { ...AGENT, executionId: 'run-2' } })).toBe(first);
    const others = [
      key({ who: { ...AGENT, principal: 'bob' } }),
      key({ snap: snapshot({ taskId: 'other' }) }),
      key({ snap: snapshot({ lease: lease({ holder: STRANGER }) }) }),
      key({ rpc: 'UpdateTask' }),
    ];
    expect(new Set([first, ...others]).size).toBe(5);
  });

  test('each override on its own', () => {
    const snap = snapshot({ lease: lease({ holder: STRANGER }) });
    const decision = decideNote(snap, ADMIN, bare({ overrideReason: 'x' }), note(ADMIN));
    expect('change' in decision && decision.change?.events[0]?.oncePerMinute).toBeUndefined();
  });
});

describe('what a refused writer is told', () => {
  const refused = (snap: Snapshot, request: GuardedRequest) => {
    const decision = decideNote(snap, AGENT, request, note(AGENT));
    return 'problem' in decision && decision.problem.kind === 'WRITE_REJECTED'
      ? decision.problem.rejection
      : expect.fail('was not refused');
  };

  test('the holder and its deadline', () => {
    const rejection = refused(snapshot({ lease: lease({ holder: STRANGER }) }), bare());
    expect(rejection).toMatchObject({
      taskId: 'task',
      fencingToken: 5n,
      live: { holder: STRANGER, expiresAt: NOW + 60_000_000, remaining: 60_000_000 },
    });
    expect(rejection.advice).toContain('bob');
    expect(rejection.advice).toContain('1 min');
  });

  test('to acquire a free task, but to send the proof of a lease of its own', () => {
    expect(refused(snapshot(), bare()).advice).toMatch(/^Acquire/);
    expect(refused(snapshot({ lease: lease() }), bare()).advice).toMatch(/^Send the proof/);
  });

  test('to stop when its lease is gone', () => {
    const revoked = refused(snapshot({ previous: ended({ end: 'REVOKED' }) }), proven());
    expect(revoked.advice).toMatch(/stop/i);
    expect(revoked.live).toBeUndefined();
  });
});
