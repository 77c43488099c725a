import type { LeaseService } from '@holdfast/proto/lease';
import { RefusalReason } from '@holdfast/proto/lease';
import { retryAfter } from '../domain/advice.js';
import { describeSpan, SECOND } from '../domain/instant.js';
import { COUNTED, type EmptyQueue, explainEmpty, type QueueFilter } from '../store/queue.js';
import type { ServiceFunctions } from './api.js';
import { repeated } from './call.js';
import { duration, microsOf } from './encode/time.js';
import { grantMessage, refusalMessage, repeatedGrant } from './grant.js';
import { newLeaseId } from './ids.js';
import { filterOf } from './queue-functions.js';

type Functions = ServiceFunctions<typeof LeaseService.method>;

export const acquireNextTask: NonNullable<Functions['acquireNextTask']> = async (api, call, request) => {
  const { store, waiting } = api;
  const filter = filterOf(request);
  const result = await waiting.next(
    call.project,
    filter,
    {
      caller: { ...call.caller, executionId: request.executionId },
      ttl: request.ttl && microsOf(request.ttl),
      leaseId: newLeaseId(),
      request: call.request,
    },
    request.wait ? microsOf(request.wait) / 1_000 : 0,
    call.signal,
  );
  switch (result.kind) {
    case 'GRANTED': {
      const { read, applied } = result;
      const state = applied.state ?? read.state;
      const value = await grantMessage(store, call.project, {
        ...read,
        state,
        now: applied.at,
        renewed: false,
      });
      return { outcome: { case: 'grant', value } };
    }
    case 'REPEATED':
      return { outcome: await repeatedGrant(store, call.project, repeated(result.request)) };
    case 'EXECUTION_ENDED':
      return { outcome: { case: 'refusal', value: refusalMessage({ kind: 'EXECUTION_ENDED' }, []) } };
    case 'NOTHING_READY': {
      const empty = await explainEmpty(store, call.project, filter);
      return {
        outcome: {
          case: 'refusal',
          value: {
            reason: RefusalReason.NOTHING_READY,
            retryAfter: duration(retryAfter(empty.nextExpiry ?? 5 * SECOND, Math.random())),
            advice: whyEmpty(empty, filter),
          },
        },
      };
    }
  }
};

const counted = (n: number) => (n === COUNTED ? `${COUNTED} or more` : String(n));

function whyEmpty(
  { leased, blocked, quarantined, filteredOut, nextExpiry }: EmptyQueue,
  filter: QueueFilter,
) {
  const filtered = filter.planId !== undefined || filter.labels.length > 0 || filter.assignee !== undefined;
  const parts = [
    leased > 0 &&
      `${counted(leased)} leased${nextExpiry === undefined ? '' : ` (next expiry in ${describeSpan(nextExpiry)})`}`,
    blocked > 0 && `${counted(blocked)} blocked`,
    quarantined > 0 && `${counted(quarantined)} quarantined`,
    filtered && filteredOut > 0 && `${counted(filteredOut)} ready that your filter leaves out`,
  ].filter((part) => part !== false);
  if (parts.length === 0) {
    return filtered
      ? 'Nothing is ready: no unfinished task matches your filter.'
      : 'Nothing is ready: every task is finished.';
  }
  return `Nothing is ready: ${parts.join(', ')}. Ask again with wait, or after retry_after.`;
}
