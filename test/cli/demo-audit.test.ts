import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { LeaseState, WriteCode } from '@holdfast/proto/guard';
import { type Event, EventKind, EventSchema, LeaseEndCause } from '@holdfast/proto/history';
import { describe, expect, it } from 'vitest';
import { audit } from '../../src/cli/demo/audit.js';
import { Checks } from '../../src/cli/demo/checks.js';
import { script } from '../../src/cli/demo/script.js';

const roles = { first: 'ada', second: 'ben' };
const ada = { principal: 'ada', executionId: 'ada-run-1' };
const ben = { principal: 'ben', executionId: 'ben-run-1' };

type Told = MessageInitShape<typeof EventSchema>;

/** The history of the raced step when all goes as told. */
const raced: Told[] = [
  { kind: EventKind.TASK_CREATED, actor: 'owner' },
  {
    kind: EventKind.LEASE_ACQUIRED,
    actor: 'ada',
    payload: { case: 'leaseGranted', value: { holder: ada, attempt: 1 } },
  },
  {
    kind: EventKind.ACQUIRE_REFUSED,
    actor: 'ben',
    payload: { case: 'acquireRefused', value: { reason: 'HELD', holder: ada } },
  },
  { kind: EventKind.NOTE_ADDED, actor: 'ada' },
  {
    kind: EventKind.LEASE_EXPIRED,
    payload: { case: 'leaseEnded', value: { holder: ada, lastNote: script.lastNote } },
  },
  {
    kind: EventKind.LEASE_TAKEN_OVER,
    actor: 'ben',
    payload: {
      case: 'leaseGranted',
      value: { holder: ben, attempt: 2, previousHolder: ada, previousEnd: LeaseState.EXPIRED },
    },
  },
  {
    kind: EventKind.WRITE_REJECTED,
    actor: 'ada',
    payload: {
      case: 'guardedWrite',
      value: { rpc: 'CompleteTask', code: WriteCode.STALE_LOCK, keptResult: script.lateResult },
    },
  },
  {
    kind: EventKind.TASK_COMPLETED,
    actor: 'ben',
    payload: { case: 'taskCompleted', value: { result: script.result } },
  },
  {
    kind: EventKind.LEASE_RELEASED,
    actor: 'ben',
    payload: { case: 'leaseEnded', value: { holder: ben, cause: LeaseEndCause.COMPLETED } },
  },
];
const other: Told[] = [
  { kind: EventKind.LEASE_ACQUIRED, actor: 'ben' },
  { kind: EventKind.TASK_COMPLETED, actor: 'ben' },
  { kind: EventKind.LEASE_RELEASED, actor: 'ben' },
];

function allAsTold(racedHistory: Told[], otherHistory: Told[] = other): boolean {
  const checks = { race: new Checks(), takeover: new Checks(), lateWriter: new Checks() };
  const events = (told: Told[]): Event[] => told.map((event) => create(EventSchema, event));
  audit(checks, roles, events(racedHistory), events(otherHistory));
  return checks.race.ok && checks.takeover.ok && checks.lateWriter.ok;
}

const eachEvent = raced.slice(1).map((event, at) => ({ kind: EventKind[event.kind ?? 0], at: at + 1 }));

describe('the audit of the demo', () => {
  it('accepts the story as told', () => {
    expect(allAsTold(raced)).toBe(true);
  });

  it.each(eachEvent)('notices that $kind is missing', ({ at }) => {
    expect(allAsTold(raced.toSpliced(at, 1))).toBe(false);
  });

  it.each(eachEvent)('notices that $kind is there twice', ({ at }) => {
    expect(allAsTold(raced.toSpliced(at, 0, raced[at] as Told))).toBe(false);
  });

  it('notices a late result that was lost', () => {
    const lost = raced.map((event) =>
      event.kind === EventKind.WRITE_REJECTED
        ? ({ ...event, payload: { case: 'guardedWrite', value: { rpc: 'CompleteTask', code: 4 } } } as Told)
        : event,
    );
    expect(allAsTold(lost)).toBe(false);
  });

  it('notices a takeover before the expiry', () => {
    const [expiry, grant] = [raced[4], raced[5]] as [Told, Told];
    expect(allAsTold(raced.toSpliced(4, 2, grant, expiry))).toBe(false);
  });

  it('notices that the other step was granted twice', () => {
    expect(allAsTold(raced, [other[0] as Told, ...other])).toBe(false);
  });
});
