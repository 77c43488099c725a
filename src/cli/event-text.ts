import { LeaseState, WriteCode } from '@holdfast/proto/guard';
import { type Event, type FieldChange, LeaseEndCause, ReadyCause } from '@holdfast/proto/history';
import { holderText } from './task-text.js';
import { counted } from './text.js';
import { moment } from './time.js';

/** What an event tells beside its kind, in one line. */
export function eventText(event: Event): string {
  const repeats = event.repeats > 0 ? `${counted(event.repeats, 'more time')} within the minute` : '';
  return joined(payloadText(event.payload), repeats);
}

function payloadText({ case: kind, value }: Event['payload']): string {
  switch (kind) {
    case 'taskCreated':
    case 'taskDeleted':
      return value.title;
    case 'taskUpdated':
      return changesText(value.changes);
    case 'taskReady':
      return ReadyCause[value.cause].toLowerCase().replaceAll('_', ' ');
    case 'taskCompleted':
      return value.result;
    case 'taskDropped':
    case 'taskReopened':
    case 'taskRequeued':
      return value.reason;
    case 'taskQuarantined':
      return `${value.expiries} leases in a row expired`;
    case 'noteAdded':
      return value.text;
    case 'dependency':
      return `waits for ${value.blockedBy}${value.acceptDropped ? ', also dropped' : ''}`;
    case 'plan':
      return joined(value.title, changesText(value.changes));
    case 'leaseGranted': {
      const before = value.previousHolder
        ? `from ${holderText(value.previousHolder)}, ${LeaseState[value.previousEnd]}`
        : '';
      return joined(`attempt ${value.attempt}, until ${moment(value.expiresAt)}`, before);
    }
    case 'leaseEnded': {
      const cause = LeaseEndCause[value.cause].toLowerCase().replaceAll('_', ' ');
      return joined(`${cause}: ${holderText(value.holder)}`, value.reason, value.lastNote);
    }
    case 'acquireRefused':
      return joined(value.reason, heldBy(holderText(value.holder)));
    case 'guardedWrite':
      return joined(
        `${value.rpc} ${WriteCode[value.code]}`,
        heldBy(holderText(value.holder)),
        value.overrideReason,
      );
    case 'executionEnded':
      return `with ${counted(value.leasesReleased, 'lease')}`;
    case 'projectChanged':
      return joined(value.title, changesText(value.changes));
    case 'webhook':
      return joined(value.url, value.error);
    case 'token':
      return `${value.tokenId} of ${value.principal}, ${value.role}`;
    default:
      return '';
  }
}

function changesText(changes: readonly FieldChange[]): string {
  return changes.map(({ field, before, after }) => `${field}: ${before || '–'} → ${after || '–'}`).join(', ');
}

function heldBy(holder: string): string {
  return holder && `held by ${holder}`;
}

function joined(...parts: string[]): string {
  return parts.filter((part) => part !== '').join('; ');
}
