import { durationFromMs, durationMs } from '@bufbuild/protobuf/wkt';
import { Enforcement, LeaseState, WriteCode } from '@holdfast/proto/guard';
import { z } from 'zod';
import { executionId, part, parts, taskId, ttlSeconds } from '../fields.js';
import { nothingHeld } from '../holdings.js';
import { guarded, leaseOn } from '../proof.js';
import { standingFields } from '../standing.js';
import { defineTool, type ToolCall } from '../tool.js';
import { lossText, ToolFailure } from '../trouble.js';
import { leaseView, unmetView } from '../views.js';

export const renewLease = defineTool({
  name: 'renew_lease',
  title: 'Keep a task',
  description: 'Extends your lease and notes your progress for whoever might take over.',
  input: z.strictObject({
    task_id: taskId,
    progress: z.string().max(65_536).optional(),
    ttl_seconds: ttlSeconds,
    execution_id: executionId,
  }),
  output: z.object({
    renewed: z.boolean(),
    lease: part,
    reopened_dependencies: parts.optional(),
    ...standingFields,
  }),
  hints: {},
  needsExecution: true,
  async run(call, args) {
    const { leaseId, fencingToken } = await held(call, args.task_id);
    const asked = call.clock.now();
    const { lease, dependenciesUnmet } = await call.holdfast.leases.renewLease({
      project: call.project,
      leaseId,
      fencingToken,
      progress: args.progress ?? '',
      ...(args.ttl_seconds !== undefined && { ttl: durationFromMs(args.ttl_seconds * 1_000) }),
    });
    if (!lease) throw new Error('the server renewed a lease and did not say which; is it newer?');
    call.holdings.live.set(args.task_id, { lease, asked });
    call.executions.granted(call.executionId, lease.ttl ? durationMs(lease.ttl) : 0);
    return {
      renewed: true,
      lease: leaseView(lease),
      ...(dependenciesUnmet.length > 0 && { reopened_dependencies: dependenciesUnmet.map(unmetView) }),
    };
  },
});

export const releaseTask = defineTool({
  name: 'release_task',
  title: 'Give a task back',
  description: 'Ends your lease so that others can take the task. Always do this when you stop unfinished.',
  input: z.strictObject({
    task_id: taskId,
    note: z.string().max(65_536).describe('What the next holder should know').optional(),
    execution_id: executionId,
  }),
  output: z.object({ released: z.boolean(), lease_state: z.string(), ...standingFields }),
  hints: { idempotent: true },
  needsExecution: true,
  async run(call, args) {
    const { leaseId, fencingToken } = await held(call, args.task_id);
    const { lease, alreadyEnded } = await call.holdfast.leases.releaseLease({
      project: call.project,
      leaseId,
      fencingToken,
      note: args.note ?? '',
    });
    call.holdings.live.delete(args.task_id);
    // Who gives a lost task back knows of its loss.
    const untold = call.holdings.untold.filter(({ taskId }) => taskId !== args.task_id);
    call.holdings = { ...call.holdings, untold };
    return { released: !alreadyEnded, lease_state: LeaseState[lease?.state ?? LeaseState.RELEASED] };
  },
});

export const checkLease = defineTool({
  name: 'check_lease',
  title: 'Check before you write elsewhere',
  description: 'Says whether your lease still holds. Ask before a push, deploy or other outside effect.',
  input: z.strictObject({ task_id: taskId, execution_id: executionId }),
  output: z.object({
    live: z.boolean(),
    verdict: z.string(),
    advice: z.string().optional(),
    enforcement: z.string(),
    ...standingFields,
  }),
  hints: { readOnly: true, idempotent: true },
  needsExecution: true,
  async run(call, args) {
    const lost = call.holdings.lost.find((lease) => lease.taskId === args.task_id);
    if (lost) throw new ToolFailure(lossText(lost, call.names));
    const { live, rejection, enforcement } = await call.holdfast.leases.checkLease(
      await guarded(call, args.task_id),
    );
    return {
      live,
      verdict: rejection ? WriteCode[rejection.code] : 'ALLOWED',
      ...(rejection && { advice: rejection.advice }),
      enforcement: Enforcement[enforcement],
    };
  },
});

export const endExecution = defineTool({
  name: 'end_execution',
  title: 'End your run',
  description: 'Gives back all that you hold. Afterwards this run acquires nothing more.',
  input: z.strictObject({ execution_id: executionId }),
  output: z.object({
    execution_id: z.string(),
    freed_tasks: z.array(z.string()),
    already_ended: z.boolean(),
    ...standingFields,
  }),
  hints: { idempotent: true },
  needsExecution: true,
  async run(call) {
    const { freed, alreadyEnded } = await call.executions.end(call.executionId);
    call.holdings = nothingHeld();
    return { execution_id: call.executionId, freed_tasks: freed, already_ended: alreadyEnded };
  },
});

async function held(call: ToolCall, id: string): Promise<{ leaseId: string; fencingToken: bigint }> {
  const lease = await leaseOn(call, id);
  if (!lease) {
    throw new ToolFailure(
      `You (execution ${call.executionId}) hold no lease on task ${id}. Call ${call.names.acquire} to get it.`,
    );
  }
  return { leaseId: lease.id, fencingToken: lease.fencingToken };
}
