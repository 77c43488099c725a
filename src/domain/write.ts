import { rejected } from './advice.js';
import type { Decision, Snapshot } from './decision.js';
import type { Actor, EventDraft, WriteCode } from './event.js';
import { judge, type Proof } from './guard.js';
import type { Caller } from './principal.js';
import { liveLease } from './task-state.js';

/** What every task write brings along for the guard. */
export interface GuardedRequest {
  /** The RPC's name, for the history. */
  readonly rpc: string;
  readonly proof: Proof | undefined;
  readonly proofLeaseTaskId: string | undefined;
  /** Non-blank; absent when none was sent. */
  readonly overrideReason: string | undefined;
  /** The work a refused completion carried, to be kept in its WRITE_REJECTED event. */
  readonly keep?: string;
}

export function actorOf(caller: Caller): Actor {
  return { principal: caller.principal, kind: caller.kind, executionId: caller.executionId };
}

/**
 * Runs a write past the guard and treats the verdict as the project's enforcement says: `write` decides
 * what is to be done, and gets the events that tell of a verdict which did not stop it.
 */
export function guarded<Answer>(
  snapshot: Snapshot,
  caller: Caller,
  request: GuardedRequest,
  write: (audit: readonly EventDraft[]) => Decision<Answer>,
): Decision<Answer> {
  const { state, now, settings } = snapshot;
  if (request.overrideReason !== undefined && caller.role !== 'admin') {
    return {
      problem: { kind: 'PERMISSION_DENIED', message: 'Only an admin may send override_reason.' },
    };
  }
  if (settings.enforcement === 'OFF') return write([]);

  const verdict = judge({
    state,
    now,
    caller,
    proof: request.proof,
    proofLeaseTaskId: request.proofLeaseTaskId,
  });
  switch (verdict.kind) {
    case 'ALLOWED':
      return write([]);
    case 'INVALID':
      return {
        problem: { kind: 'INVALID_ARGUMENT', field: verdict.field, description: verdict.description },
      };
    case 'BAD':
      if (request.overrideReason !== undefined) {
        return write([audit('WRITE_OVERRIDDEN', verdict.code, snapshot, caller, request)]);
      }
      if (settings.enforcement === 'WARN') {
        return write([audit('WRITE_WARNED', verdict.code, snapshot, caller, request)]);
      }
      return {
        problem: rejected(verdict.code, state, now),
        record: audit('WRITE_REJECTED', verdict.code, snapshot, caller, request),
      };
  }
}

function audit(
  kind: 'WRITE_OVERRIDDEN' | 'WRITE_WARNED' | 'WRITE_REJECTED',
  code: WriteCode,
  { state, now }: Snapshot,
  caller: Caller,
  request: GuardedRequest,
): EventDraft {
  const live = liveLease(state, now);
  return {
    kind,
    actor: actorOf(caller),
    payload: {
      rpc: request.rpc,
      code,
      ...(live && { holder: live.holder }),
      ...(request.proof && { proofToken: request.proof.fencingToken.toString() }),
      ...(kind === 'WRITE_OVERRIDDEN' &&
        request.overrideReason && { overrideReason: request.overrideReason }),
      ...(kind === 'WRITE_REJECTED' && request.keep && { keptResult: request.keep }),
    },
    // Each override is an act of its own; a runaway agent's faults are counted instead of listed.
    ...(kind !== 'WRITE_OVERRIDDEN' && {
      oncePerMinute: [kind, state.taskId, caller.principal, code, request.rpc].join('\u0001'),
    }),
  };
}
