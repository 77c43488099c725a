import { describe, expect, test } from 'vitest';
import { judge, type Proof, type Verdict } from '../../src/domain/guard.js';
import type { Caller } from '../../src/domain/principal.js';
import type { LeaseEnd, TaskState } from '../../src/domain/task-state.js';
import { CALLERS, ended, holderOf, lease, NOW, otherRun, STRANGER, state } from './snapshots.js';

/**
 * The contract's table "The write guard", row by row, over every combination of the facts that it speaks
 * of. The first row that matches decides, so a combination belongs to one row only.
 */

const PROOFS = [
  'none',
  'without a lease id',
  'without a token',
  'with a negative token',
  'of a lease on another task',
  'of a lease on another task, with the current token',
  'with a token above the current',
  'with an older token',
  'with the current token and an unknown lease id',
  'of the newest lease',
] as const;
const NEWEST_LEASE = ['never', 'live', 'lapsed', 'RELEASED', 'COMPLETED', 'EXPIRED', 'REVOKED'] as const;
const HOLDERS = ['the caller', 'another execution of the caller', 'somebody else'] as const;
const TASKS = ['open', 'blocked', 'DONE', 'DROPPED', 'QUARANTINED'] as const;
const ROLES = ['agent', 'member', 'admin'] as const;

interface Facts {
  readonly proof: (typeof PROOFS)[number];
  readonly newest: (typeof NEWEST_LEASE)[number];
  readonly holder: (typeof HOLDERS)[number];
  readonly task: (typeof TASKS)[number];
  readonly role: (typeof ROLES)[number];
}

interface RuleRow {
  readonly row: number;
  readonly condition: string;
  matches(facts: Facts): boolean;
  readonly verdict: 'INVALID_ARGUMENT' | 'ALLOWED' | (Verdict & { kind: 'BAD' })['code'];
}

const sent = (f: Facts) => f.proof !== 'none';
const live = (f: Facts) => f.newest === 'live';

const TABLE: readonly RuleRow[] = [
  {
    row: 1,
    condition: 'a field missing, token < 1, lease of another task, token > current',
    matches: (f) =>
      [
        'without a lease id',
        'without a token',
        'with a negative token',
        'of a lease on another task',
        'of a lease on another task, with the current token',
        'with a token above the current',
      ].includes(f.proof),
    verdict: 'INVALID_ARGUMENT',
  },
  {
    row: 2,
    condition: 'token < current, or its lease was revoked',
    matches: (f) =>
      f.proof === 'with an older token' || (f.proof === 'of the newest lease' && f.newest === 'REVOKED'),
    verdict: 'STALE_LOCK',
  },
  {
    row: 3,
    condition: 'its lease is not live (expired, released, completed)',
    // With an unknown id, the token alone says whose lease it was.
    matches: (f) => sent(f) && !live(f) && f.newest !== 'REVOKED',
    verdict: 'LOCK_EXPIRED',
  },
  {
    row: 4,
    condition: 'lease id, principal or execution does not match the live lease',
    matches: (f) =>
      sent(f) &&
      live(f) &&
      (f.proof === 'with the current token and an unknown lease id' || f.holder !== 'the caller'),
    verdict: 'LOCKED_BY_OTHER',
  },
  { row: 5, condition: 'else, with a proof', matches: sent, verdict: 'ALLOWED' },
  {
    row: 6,
    condition: 'no proof, a live lease, held by somebody else',
    matches: (f) => live(f) && f.holder !== 'the caller',
    verdict: 'LOCKED_BY_OTHER',
  },
  { row: 7, condition: 'caller is a PERSON', matches: (f) => f.role !== 'agent', verdict: 'ALLOWED' },
  {
    row: 8,
    condition: "no live lease, and the task can't be leased (closed or blocked)",
    matches: (f) => !live(f) && f.task !== 'open',
    verdict: 'ALLOWED',
  },
  { row: 9, condition: 'else', matches: () => true, verdict: 'LOCK_REQUIRED' },
];

/** Every combination that can exist. */
const EVERY: readonly Facts[] = PROOFS.flatMap((proof) =>
  NEWEST_LEASE.flatMap((newest) =>
    HOLDERS.flatMap((holder) =>
      TASKS.flatMap((task) => ROLES.map((role) => ({ proof, newest, holder, task, role }))),
    ),
  ),
).filter(({ proof, newest, holder, task }) => {
  // A closed task carries no lease.
  if ((newest === 'live' || newest === 'lapsed') && task !== 'open' && task !== 'blocked') return false;
  if (newest !== 'never') {
    // A revoked lease and a made-up id: the guard cannot tell them apart, and both are late.
    return !(newest === 'REVOKED' && proof === 'with the current token and an unknown lease id');
  }
  // Never leased: no holder, and no proof can be of its lease.
  return (
    holder === 'the caller' &&
    ['none', 'without a lease id', 'of a lease on another task', 'with a token above the current'].includes(
      proof,
    )
  );
});

function holder(facts: Facts, caller: Caller) {
  if (facts.holder === 'the caller') return holderOf(caller);
  return facts.holder === 'somebody else' ? STRANGER : holderOf(otherRun(caller));
}

function stateOf(facts: Facts, caller: Caller): TaskState {
  const { newest, task } = facts;
  const status = task === 'open' || task === 'blocked' ? {} : { status: task };
  const unmet = task === 'blocked' ? 2 : 0;
  if (newest === 'never') return state({ ...status, unmet });
  const held = { holder: holder(facts, caller) };
  if (newest === 'live') return state({ unmet, lease: lease(held) });
  if (newest === 'lapsed') return state({ unmet, lease: lease({ ...held, expiresAt: NOW }) });
  return state({ ...status, unmet, previous: ended({ ...held, end: newest satisfies LeaseEnd }) });
}

function proofOf(
  { proof }: Facts,
  current: bigint,
): { proof: Proof | undefined; leaseTask: string | undefined } {
  const make = (leaseId: string, fencingToken: bigint, leaseTask?: string) => ({
    proof: { leaseId, fencingToken },
    leaseTask,
  });
  switch (proof) {
    case 'none':
      return { proof: undefined, leaseTask: undefined };
    case 'without a lease id':
      return make('', current);
    case 'without a token':
      return make('lease-5', 0n, 'task');
    case 'with a negative token':
      return make('lease-5', -(2n ** 63n), 'task');
    case 'of a lease on another task':
      return make('lease-x', 1n, 'another task');
    case 'of a lease on another task, with the current token':
      return make('lease-x', current, 'another task');
    case 'with a token above the current':
      return make('lease-5', current + 1n, current === 0n ? undefined : 'task');
    case 'with an older token':
      return make('lease-4', current - 1n, 'task');
    case 'with the current token and an unknown lease id':
      return make('lease-?', current);
    case 'of the newest lease':
      return make('lease-5', current, 'task');
  }
}

function verdictOn(facts: Facts): string {
  const caller = CALLERS[facts.role];
  const task = stateOf(facts, caller);
  const { proof, leaseTask } = proofOf(facts, task.fencingToken);
  const verdict = judge({ state: task, now: NOW, caller, proof, proofLeaseTaskId: leaseTask });
  return verdict.kind === 'BAD' ? verdict.code : verdict.kind === 'INVALID' ? 'INVALID_ARGUMENT' : 'ALLOWED';
}

const deciding = (facts: Facts) => TABLE.find((rule) => rule.matches(facts));
const describeFacts = (f: Facts) =>
  `${f.role}, proof ${f.proof}, newest lease ${f.newest} of ${f.holder}, task ${f.task}`;

describe.each(TABLE.map((rule) => [`row ${rule.row}: ${rule.condition}`, rule] as const))(
  '%s',
  (_name, rule) => {
    const cases = EVERY.filter((facts) => deciding(facts) === rule);

    test(`gives ${rule.verdict}`, () => {
      expect(cases.length).toBeGreaterThan(0);
      const verdicts = Object.fromEntries(cases.map((facts) => [describeFacts(facts), verdictOn(facts)]));
      expect(verdicts).toEqual(
        Object.fromEntries(cases.map((facts) => [describeFacts(facts), rule.verdict])),
      );
    });
  },
);

test('the order of the rows decides: most pairs of rows with other verdicts match something together', () => {
  const pairs = TABLE.flatMap((first) =>
    TABLE.filter(
      (later) =>
        later.row > first.row &&
        later.verdict !== first.verdict &&
        EVERY.some((facts) => deciding(facts) === first && later.matches(facts)),
    ).map((later) => `${first.row} before ${later.row}`),
  );
  expect(pairs).toEqual(
    expect.arrayContaining([
      '1 before 3',
      '2 before 4',
      '3 before 5',
      '4 before 5',
      '6 before 7',
      '7 before 9',
      '8 before 9',
    ]),
  );
});

describe('the deadline', () => {
  const at = (expiresAt: number) =>
    judge({
      state: state({ lease: lease({ expiresAt }) }),
      now: NOW,
      caller: CALLERS.agent,
      proof: { leaseId: 'lease-5', fencingToken: 5n },
      proofLeaseTaskId: 'task',
    });
  test('one microsecond before it the lease is live', () => {
    expect(at(NOW + 1)).toEqual({ kind: 'ALLOWED' });
  });
  test('at it the lease is over', () => {
    expect(at(NOW)).toEqual({ kind: 'BAD', code: 'LOCK_EXPIRED' });
  });
});

test.each([
  ['without a lease id', 'proof.lease_id'],
  ['of a lease on another task', 'proof.lease_id'],
  ['without a token', 'proof.fencing_token'],
  ['with a token above the current', 'proof.fencing_token'],
] as const)('a proof %s is refused by naming %s', (proof, field) => {
  const facts: Facts = { proof, newest: 'live', holder: 'the caller', task: 'open', role: 'agent' };
  const task = stateOf(facts, CALLERS.agent);
  const made = proofOf(facts, task.fencingToken);
  expect(
    judge({
      state: task,
      now: NOW,
      caller: CALLERS.agent,
      proof: made.proof,
      proofLeaseTaskId: made.leaseTask,
    }),
  ).toMatchObject({ kind: 'INVALID', field });
});
