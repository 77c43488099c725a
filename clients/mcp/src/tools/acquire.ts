import { create } from '@bufbuild/protobuf';
import { durationFromMs, durationMs } from '@bufbuild/protobuf/wkt';
import {
  AcquireLeaseRequestSchema,
  AcquireNextTaskRequestSchema,
  type Grant,
  type Refusal,
  RefusalReason,
} from '@holdfast/proto/lease';
import { TaskStatus } from '@holdfast/proto/task';
import { z } from 'zod';
import { executionId, part, parts, queueFilter, taskId, ttlSeconds } from '../fields.js';
import { standingFields } from '../standing.js';
import { instant, seconds } from '../time.js';
import { defineTool, type ToolCall } from '../tool.js';
import {
  brief,
  continuationView,
  holderView,
  leaseView,
  unmetView,
  withoutNothing,
  workView,
} from '../views.js';

/** Clients give up on a call after 60 s. */
const LONGEST_WAIT_SECONDS = 50;

const output = z.object({
  acquired: z.boolean(),
  next: z.string().describe('What to do now'),
  execution_id: z.string(),
  task: part.optional(),
  lease: part.optional(),
  continuation: part.describe('What earlier holders left').optional(),
  reason: z.string().optional(),
  refusal: part.optional(),
  alternatives: parts.optional(),
  ...standingFields,
});

export const acquireNextTask = defineTool({
  name: 'acquire_next_task',
  title: 'Take the best ready task',
  description: 'Leases the best ready task for you, so that nobody else works on it. Start here.',
  input: z.strictObject({
    ...queueFilter,
    wait_seconds: z
      .number()
      .int()
      .min(0)
      .max(LONGEST_WAIT_SECONDS)
      .describe('Wait so long for one')
      .optional(),
    ttl_seconds: ttlSeconds,
    execution_id: executionId,
  }),
  output,
  hints: {},
  needsExecution: false,
  async run(call, args) {
    const execution = call.executions.begin(args.execution_id);
    const { wait_seconds = 0, ttl_seconds } = args;
    const request = create(AcquireNextTaskRequestSchema, {
      project: call.project,
      executionId: execution,
      requestId: crypto.randomUUID(),
      planId: args.plan_id ?? '',
      labels: args.labels ?? [],
      assignee: args.assignee ?? '',
      ...(ttl_seconds !== undefined && { ttl: durationFromMs(ttl_seconds * 1_000) }),
      ...(wait_seconds > 0 && { wait: durationFromMs(wait_seconds * 1_000) }),
    });
    const ask = (signal: AbortSignal) =>
      call.holdfast.leases.acquireNextTask(request, { signal, timeoutMs: wait_seconds * 1_000 + 10_000 });
    return answer(call, execution, await askFor(call, ask));
  },
});

export const acquireTask = defineTool({
  name: 'acquire_task',
  title: 'Take one task',
  description: 'Leases the task you name. Refused while another holds it or it waits for others.',
  input: z.strictObject({ task_id: taskId, ttl_seconds: ttlSeconds, execution_id: executionId }),
  output,
  hints: { idempotent: true },
  needsExecution: false,
  async run(call, args) {
    const execution = call.executions.begin(args.execution_id);
    const request = create(AcquireLeaseRequestSchema, {
      project: call.project,
      executionId: execution,
      requestId: crypto.randomUUID(),
      taskId: args.task_id,
      ...(args.ttl_seconds !== undefined && { ttl: durationFromMs(args.ttl_seconds * 1_000) }),
    });
    const ask = (signal: AbortSignal) =>
      call.holdfast.leases.acquireLease(request, { signal, timeoutMs: 10_000 });
    return answer(call, execution, await askFor(call, ask));
  },
});

interface Asked {
  outcome: Grant | Refusal;
  asked: ReturnType<ToolCall['clock']['now']>;
}

type Ask = (
  signal: AbortSignal,
) => Promise<{ outcome: { value?: Grant | Refusal | undefined; case: string | undefined } }>;

/** Asks for a lease. One that the client no longer waits for is given back: nobody would know of it. */
async function askFor(call: ToolCall, ask: Ask): Promise<Asked> {
  const asked = call.clock.now();
  try {
    const { outcome } = await ask(call.signal);
    if (!outcome.value) throw new Error('the server answered neither a grant nor a refusal; is it newer?');
    call.signal.throwIfAborted();
    return { outcome: outcome.value, asked };
  } catch (error) {
    if (call.signal.aborted) void giveBack(call, ask);
    throw error;
  }
}

// The same request again tells what came of it: it carries a request id.
async function giveBack(call: ToolCall, ask: Ask): Promise<void> {
  try {
    const { outcome } = await ask(AbortSignal.timeout(2_000));
    const lease = outcome.value?.$typeName === 'holdfast.v1.Grant' ? outcome.value.lease : undefined;
    if (!lease) return;
    const { project } = call;
    const note = 'The client went away before it was told of this lease.';
    await call.holdfast.leases.releaseLease({
      project,
      leaseId: lease.id,
      fencingToken: lease.fencingToken,
      note,
    });
  } catch {
    // It then runs out by itself.
  }
}

function answer(call: ToolCall, execution: string, { outcome, asked }: Asked) {
  if (outcome.$typeName === 'holdfast.v1.Refusal') {
    return { acquired: false, execution_id: execution, ...refused(call, outcome) };
  }
  const { lease, task, continuation, renewed } = outcome;
  if (!lease || !task) throw new Error('the server granted a lease and did not say which; is it newer?');
  call.holdings.live.set(task.id, { lease, asked });
  call.executions.granted(execution, lease.ttl ? durationMs(lease.ttl) : 0);
  const { complete, release, renew } = call.names;
  return {
    acquired: true,
    next: `Work on it; note progress with ${renew}; then ${complete}, or ${release} if you stop. If you are told STOP, stop.`,
    execution_id: execution,
    task: workView(task),
    lease: { ...leaseView(lease), ...(renewed && { renewed }) },
    ...(continuation && { continuation: continuationView(continuation) }),
  };
}

function refused({ names }: ToolCall, refusal: Refusal) {
  const { reason, holder, expiresAt, retryAfter, unmetDependencies, advice, taskStatus } = refusal;
  const others =
    refusal.alternatives.length > 0 ? ` Take one of the alternatives with ${names.acquire} meanwhile.` : '';
  return {
    reason: RefusalReason[reason],
    next: advice + others,
    refusal: withoutNothing({
      holder: holder && holderView(holder),
      expires_at: instant(expiresAt),
      retry_after_seconds: seconds(retryAfter),
      unmet_dependencies: unmetDependencies.map(unmetView),
      task_status: taskStatus && TaskStatus[taskStatus],
    }),
    alternatives: refusal.alternatives.map(brief),
  };
}
