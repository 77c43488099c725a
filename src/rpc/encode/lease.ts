import type { MessageInitShape } from '@bufbuild/protobuf';
import { LeaseState, WriteCode, type WriteRejectionSchema } from '@holdfast/proto/guard';
import type { LeaseSchema } from '@holdfast/proto/lease';
import { retryAfter } from '../../domain/advice.js';
import type { Micros } from '../../domain/instant.js';
import { type Lease, leaseEndAt } from '../../domain/lease.js';
import type { WriteRejection } from '../../domain/problem.js';
import { duration, timestamp } from './time.js';

/** Whether an answer goes to the lease's holder, who alone is told its id. */
export type Reader = 'HOLDER' | 'OTHERS';

export function leaseMessage(
  lease: Lease,
  now: Micros,
  reader: Reader,
): MessageInitShape<typeof LeaseSchema> {
  const state = leaseEndAt(lease, now);
  return {
    id: reader === 'HOLDER' ? lease.id : '',
    taskId: lease.taskId,
    fencingToken: lease.fencingToken,
    holder: lease.holder,
    state: LeaseState[state],
    grantedAt: timestamp(lease.grantedAt),
    expiresAt: timestamp(lease.expiresAt),
    remaining: duration(state === 'ACTIVE' ? lease.expiresAt - now : 0),
    ttl: duration(lease.ttl),
    attempt: lease.attempt,
    ...(lease.endedAt !== undefined && { endedAt: timestamp(lease.endedAt) }),
    endedBy: lease.endedBy ?? '',
    endReason: lease.endReason ?? '',
  };
}

export function rejectionMessage(rejection: WriteRejection): MessageInitShape<typeof WriteRejectionSchema> {
  const { live } = rejection;
  return {
    code: WriteCode[rejection.code],
    taskId: rejection.taskId,
    fencingToken: rejection.fencingToken,
    ...(live && { holder: live.holder, expiresAt: timestamp(live.expiresAt) }),
    ...(rejection.code === 'LOCKED_BY_OTHER' &&
      live && { retryAfter: duration(retryAfter(live.remaining, Math.random())) }),
    advice: rejection.advice,
  };
}
