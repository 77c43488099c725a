import type { LeaseService } from '@holdfast/proto/lease';
import { RefusalReason } from '@holdfast/proto/lease';
import { retryAfter } from '../domain/advice.js';
import { describeSpan, SECOND } from '../domain/instant.js';
import type { Counted, EmptyQueue } from '../store/empty-queue.js';
import type { QueueFilter } from '../store/queue-list.js';
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
      const empty = await store.explainEmpty({ project: call.project, filter });
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

/** Undefined for none. */
function counted({ n, more }: Counted, what: string): string | undefined {
  if (n === 0) return undefined;
  return `${n}${more ? ' or more' : ''} ${what}`;
}

function whyEmpty(
  { leased, blocked, quarantined, filteredOut, nextExpiry }: EmptyQueue,
  filter: QueueFilter,
): string {
  const filtered = filter.planId !== undefined || filter.labels.length > 0 || filter.assignee !== undefined;
  const expiry =
    nextExpiry === undefined
      ? ''
      : ` (next expiry ${leased.more ? 'within' : 'in'} ${describeSpan(nextExpiry)})`;
  const parts = [
    counted(leased, `leased${expiry}`),
    counted(blocked, 'blocked'),
    counted(quarantined, 'quarantined'),
    filtered ? counted(filteredOut, 'ready that your filter leaves out') : undefined,
  ].filter((part) => part !== undefined);
  if (parts.length > 0) {
    return `Nothing is ready: ${parts.join(', ')}. Ask again with wait, or after retry_after.`;
  }
  if (!filtered) return 'Nothing is ready: every task is finished.';
  return leased.more || blocked.more || quarantined.more
    ? 'Nothing ready matches your filter. Ask again with wait, or after retry_after.'
    : 'Nothing is ready: no unfinished task matches your filter.';
}
