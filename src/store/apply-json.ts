import { createHash } from 'node:crypto';
import type { Change } from '../domain/change.js';
import type { EventDraft } from '../domain/event.js';
import type { ChangeItem } from './change-item.js';
import { eventCodes, kindCodes, leaseEndCodes, statusCodes } from './codes.js';
import { requestRow } from './requests.js';

/** A change with its place in the statement, and the item it belongs to. */
export type NumberedChange = Change & { readonly project: string; readonly item: number; readonly i: number };

export function changesJson(changes: readonly NumberedChange[]): string {
  return JSON.stringify(
    changes.map(({ i, item, project, taskId, expect, lease, closing, deps, edges, remove, ...change }) => ({
      i,
      item,
      project,
      task_id: taskId,
      lease_version: expect.leaseVersion.toString(),
      deps_version: expect.depsVersion?.toString(),
      content_version: expect.contentVersion?.toString(),
      deadline_was: expect.expiresAt,
      not_before: change.notBefore,
      before: change.before,
      status: change.status && statusCodes.code(change.status),
      expiries: change.expiriesInARow,
      op: lease?.op,
      ...(lease?.op === 'grant' && {
        lease_id: lease.leaseId,
        principal: lease.holder.principal,
        execution_id: lease.holder.executionId,
        ttl: lease.ttl,
        max_age: lease.maxAge,
        inherit_age: lease.inheritAge,
      }),
      ...(lease?.op === 'renew' && { ttl: lease.ttl, max_age: lease.maxAge }),
      ...(lease?.op === 'end' && {
        lease_end: leaseEndCodes.code(lease.end),
        ended_by: lease.by,
        end_reason: lease.reason,
      }),
      ...(remove && {
        remove: true,
        actor: remove.by.principal,
        actor_kind: kindCodes.code(remove.by.kind),
        actor_execution: remove.by.executionId,
      }),
      // A change of an edge moves the version of both its ends, so a count of 0 is a change, too.
      ...((deps || edges) && {
        unmet: deps?.unmet ?? 0,
        blockers: deps?.blockers ?? 0,
        dependents: deps?.dependents ?? 0,
      }),
      edges: edges?.add,
      unedges: edges?.remove,
      graph_version: change.graphVersion?.toString(),
      content: change.content,
      closing: closing === 'reopened' ? {} : closing,
      note: change.note,
    })),
  );
}

export function eventsJson(changes: readonly Change[]): string {
  return JSON.stringify(
    changes.flatMap(({ events }, i) => events.map((event, ord) => ({ i, ord, ...eventColumns(event) }))),
  );
}

export function requestsJson(changes: readonly NumberedChange[], items: readonly ChangeItem[]): string {
  return JSON.stringify(
    items.flatMap(({ request }, item) => {
      const i = changes.findIndex((change) => change.item === item);
      return request ? [{ i, ...requestRow(request) }] : [];
    }),
  );
}

/** An event's columns, but for those that only the writing statement knows. */
interface EventColumns {
  kind: number;
  actor: string | undefined;
  actor_kind: number | undefined;
  execution_id: string | undefined;
  payload: EventDraft['payload'];
  once: string | undefined;
}

export function eventColumns({ kind, payload, actor, oncePerMinute }: EventDraft): EventColumns {
  return {
    kind: eventCodes.code(kind),
    actor: actor?.principal,
    actor_kind: actor && kindCodes.code(actor.kind),
    execution_id: actor?.executionId,
    payload,
    once: oncePerMinute && createHash('sha256').update(oncePerMinute).digest('base64url'),
  };
}
