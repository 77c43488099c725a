import { LeaseState, WriteCode } from '@holdfast/proto/guard';
import { type Event, EventKind, LeaseEndCause } from '@holdfast/proto/history';
import type { Checks } from './checks.js';
import { script } from './script.js';

/** What is told of each scene by the history alone. */
export interface AuditedChecks {
  readonly race: Checks;
  readonly takeover: Checks;
  readonly lateWriter: Checks;
}

/** Who did what, as the history should tell it. */
export interface Roles {
  /** Won the race, was killed, came back late. */
  readonly first: string;
  /** Lost the race, took over. */
  readonly second: string;
}

/** The events of a task that the demo's story is about, each exactly once. */
const raced = [
  'LEASE_ACQUIRED',
  'ACQUIRE_REFUSED',
  'NOTE_ADDED',
  'LEASE_EXPIRED',
  'LEASE_TAKEN_OVER',
  'WRITE_REJECTED',
  'TASK_COMPLETED',
  'LEASE_RELEASED',
];
const taken = ['LEASE_ACQUIRED', 'TASK_COMPLETED', 'LEASE_RELEASED'];
// They tell nothing of leases: that the task came to be, and each time that it could be taken.
const aside = [EventKind.TASK_CREATED, EventKind.TASK_READY];

/** Checks the histories of the raced step and of the other one against the story. */
export function audit(
  { race, takeover, lateWriter }: AuditedChecks,
  { first, second }: Roles,
  racedHistory: readonly Event[],
  otherHistory: readonly Event[],
): void {
  lateWriter.equal("history: the raced step's events, each once", kinds(racedHistory), raced.toSorted());
  race.equal("history: the other step's events, each once", kinds(otherHistory), taken.toSorted());

  const told = (kind: EventKind) => racedHistory.find((event) => event.kind === kind);
  const payload = <Case extends NonNullable<Event['payload']['case']>>(kind: EventKind, name: Case) => {
    const event = told(kind);
    type Payload = Extract<Event['payload'], { case: Case }>['value'];
    return event?.payload.case === name ? (event.payload.value as Payload) : undefined;
  };

  race.equal('history: who was granted the raced step', told(EventKind.LEASE_ACQUIRED)?.actor, first);
  race.equal('history: who was refused it', told(EventKind.ACQUIRE_REFUSED)?.actor, second);
  const refused = payload(EventKind.ACQUIRE_REFUSED, 'acquireRefused');
  race.equal('history: why', refused?.reason, 'HELD');
  race.equal('history: who held it then', refused?.holder?.principal, first);
  race.equal('history: who was granted the other step', otherHistory.find(isGrant)?.actor, second);

  const expired = payload(EventKind.LEASE_EXPIRED, 'leaseEnded');
  takeover.equal('history: whose lease expired', expired?.holder?.principal, first);
  takeover.equal('history: the note it left', expired?.lastNote, script.lastNote);
  const over = payload(EventKind.LEASE_TAKEN_OVER, 'leaseGranted');
  takeover.equal('history: who took over', over?.holder?.principal, second);
  takeover.equal('history: from whom', over?.previousHolder?.principal, first);
  takeover.equal('history: how that lease had ended', LeaseState[over?.previousEnd ?? 0], 'EXPIRED');
  takeover.equal('history: the attempt', over?.attempt, 2);

  const rejected = payload(EventKind.WRITE_REJECTED, 'guardedWrite');
  lateWriter.equal('history: whose write was rejected', told(EventKind.WRITE_REJECTED)?.actor, first);
  lateWriter.equal('history: which', rejected?.rpc, 'CompleteTask');
  lateWriter.equal('history: the verdict', WriteCode[rejected?.code ?? 0], 'STALE_LOCK');
  lateWriter.equal('history: the late result is kept', rejected?.keptResult, script.lateResult);
  const completed = payload(EventKind.TASK_COMPLETED, 'taskCompleted');
  lateWriter.equal('history: who completed it', told(EventKind.TASK_COMPLETED)?.actor, second);
  lateWriter.equal('history: with what', completed?.result, script.result);
  const released = payload(EventKind.LEASE_RELEASED, 'leaseEnded');
  lateWriter.equal('history: why its lease ended', LeaseEndCause[released?.cause ?? 0], 'COMPLETED');

  const order = [
    EventKind.LEASE_ACQUIRED,
    EventKind.NOTE_ADDED,
    EventKind.LEASE_EXPIRED,
    EventKind.LEASE_TAKEN_OVER,
    EventKind.WRITE_REJECTED,
    EventKind.TASK_COMPLETED,
  ];
  lateWriter.equal(
    'history: in the order of the story',
    racedHistory.filter(({ kind }) => order.includes(kind)).map(({ kind }) => EventKind[kind]),
    order.map((kind) => EventKind[kind]),
  );
}

function kinds(history: readonly Event[]): (string | undefined)[] {
  return history
    .filter(({ kind }) => !aside.includes(kind))
    .map(({ kind }) => EventKind[kind])
    .toSorted();
}

function isGrant({ kind }: Event): boolean {
  return kind === EventKind.LEASE_ACQUIRED || kind === EventKind.LEASE_TAKEN_OVER;
}
