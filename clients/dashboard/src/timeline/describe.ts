import { durationMs } from '@bufbuild/protobuf/wkt';
import { type Holder, LeaseState, WriteCode } from '@holdfast/proto/guard';
import { type Event, EventKind, LeaseEndCause } from '@holdfast/proto/history';
import { span } from '../ui/time.js';

const name = (holder: Holder | undefined): string => holder?.principal ?? 'nobody';

const CAUSES: Partial<Record<LeaseEndCause, string>> = {
  [LeaseEndCause.RELEASED]: 'gave it back',
  [LeaseEndCause.COMPLETED]: 'held it until it was completed',
  [LeaseEndCause.DROPPED]: 'dropped it',
  [LeaseEndCause.DELETED]: 'deleted it',
  [LeaseEndCause.EXECUTION_ENDED]: 'gave it back: its execution ended',
};

/** One sentence on what happened, without the task's title: who, what, and why. */
export function describe({ kind, actor, payload, fencingToken, repeats }: Event): string {
  const again = repeats > 0 ? ` (${repeats + 1} times within a minute)` : '';
  switch (payload.case) {
    case 'leaseGranted': {
      const { holder, attempt, ttl, previousHolder, previousEnd } = payload.value;
      const terms = `token ${fencingToken}, for ${span(ttl ? durationMs(ttl) : 0)} at a time`;
      if (kind !== EventKind.LEASE_TAKEN_OVER) return `${name(holder)} was granted it: ${terms}`;
      const before = `${name(previousHolder)}, whose lease ${previousEnd === LeaseState.REVOKED ? 'was revoked' : 'ran out'}`;
      return `${name(holder)} took over from ${before}: ${terms}, attempt ${attempt}`;
    }
    case 'leaseEnded': {
      const { holder, cause, reason, lastNote, expiriesInARow } = payload.value;
      if (kind === EventKind.LEASE_EXPIRED) {
        const often = expiriesInARow > 1 ? `, ${expiriesInARow} in a row` : '';
        return `${name(holder)}'s lease ran out${often}${lastNote ? `; last note: “${lastNote}”` : ''}`;
      }
      if (kind === EventKind.LEASE_REVOKED) {
        return `${actor || 'somebody'} took ${name(holder)}'s lease away${reason ? `: ${reason}` : ''}`;
      }
      return `${name(holder)} ${CAUSES[cause] ?? 'gave it back'}`;
    }
    case 'acquireRefused': {
      const { holder, reason } = payload.value;
      const why = reason === 'HELD' ? `${name(holder)} holds it` : reason.toLowerCase().replaceAll('_', ' ');
      return `${actor} was refused, ${reason}: ${why}${again}`;
    }
    case 'guardedWrite': {
      const { rpc, code, holder, overrideReason } = payload.value;
      const verdict = WriteCode[code];
      if (kind === EventKind.WRITE_OVERRIDDEN)
        return `${actor} overrode ${verdict} with ${rpc}: ${overrideReason}`;
      const held = holder ? `; ${name(holder)} holds it` : '';
      const done = kind === EventKind.WRITE_WARNED ? 'was done although' : 'was refused';
      return `${actor}'s ${rpc} ${done} ${verdict}${held}${again}`;
    }
    case 'noteAdded':
      return `${actor} noted: “${payload.value.text}”`;
    case 'taskDeleted':
      return `${actor} deleted it`;
    case 'taskCreated':
      return `${actor} created it`;
    case 'taskUpdated':
      return `${actor} changed ${payload.value.changes.map(({ field }) => field).join(', ') || 'it'}`;
    case 'taskReady':
      return 'it is ready';
    case 'taskCompleted':
      return `${actor} completed it${payload.value.result ? `: ${payload.value.result}` : ''}`;
    case 'taskDropped':
      return `${actor} dropped it${payload.value.reason ? `: ${payload.value.reason}` : ''}`;
    case 'taskReopened':
      return `${actor} reopened it${payload.value.reason ? `: ${payload.value.reason}` : ''}`;
    case 'taskQuarantined':
      return `quarantined: ${payload.value.expiries} leases in a row ran out`;
    case 'taskRequeued':
      return `${actor} requeued it${payload.value.reason ? `: ${payload.value.reason}` : ''}`;
    case 'dependency':
      return `${actor} ${kind === EventKind.DEPENDENCY_ADDED ? 'added' : 'removed'} a dependency`;
    case 'executionEnded':
      return `${actor} ended an execution`;
    case 'webhook':
      return `a webhook to ${payload.value.url} ${kind === EventKind.WEBHOOK_FAILED ? `fails: ${payload.value.error}` : 'changed'}`;
    default:
      return EventKind[kind].toLowerCase().replaceAll('_', ' ');
  }
}
