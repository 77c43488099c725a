/**
 * One agent of the demo: a process of its own that gets what any agent gets (HOLDFAST_URL, HOLDFAST_TOKEN and
 * HOLDFAST_EXECUTION_ID), is told over IPC what to do next, and tells what came of it.
 */
import { durationFromMs } from '@bufbuild/protobuf/wkt';
import { createHoldfast, explain, WriteRejected } from '@holdfast/client';
import { LeaseState, WriteCode } from '@holdfast/proto/guard';
import { type Grant, type Lease, RefusalReason } from '@holdfast/proto/lease';
import { TaskStatus } from '@holdfast/proto/task';
import type { AgentActs, Granted } from './agent-acts.js';
import type { Command, Report } from './client-agent.js';

const {
  HOLDFAST_URL: url = '',
  HOLDFAST_TOKEN: token = '',
  HOLDFAST_EXECUTION_ID: executionId = '',
} = process.env;
const holdfast = createHoldfast({ url, token, executionId });
const heartbeats = new Map<string, NodeJS.Timeout>();

const acts: AgentActs = {
  async look(planId) {
    const { tasks } = await holdfast.tasks.listTasks({ planId, statuses: [TaskStatus.OPEN] });
    const ready = tasks.filter((task) => task.unmetDependencies === 0);
    return ready.map(({ id, title }) => ({ id, title }));
  },
  async acquire(taskId, ttlMs) {
    const { outcome } = await holdfast.leases.acquireLease({
      taskId,
      executionId,
      ttl: durationFromMs(ttlMs),
      requestId: crypto.randomUUID(),
    });
    if (outcome.case === 'grant' && outcome.value.lease) {
      keepRenewed(outcome.value.lease, ttlMs);
      return { grant: granted(outcome.value, outcome.value.lease) };
    }
    if (outcome.case !== 'refusal') throw new Error('the answer is neither a lease nor a refusal');
    const { reason, holder } = outcome.value;
    return { refusal: { reason: RefusalReason[reason], ...(holder && { holder }) } };
  },
  async note(taskId, text, proof) {
    const { note } = await holdfast.tasks.addNote({ taskId, text, proof, executionId });
    return note?.text;
  },
  async complete(taskId, result, proof) {
    try {
      const { task } = await holdfast.tasks.completeTask({ taskId, result, proof, executionId });
      return { status: TaskStatus[task?.status ?? 0] ?? '', result: task?.result ?? '' };
    } catch (error) {
      if (!(error instanceof WriteRejected)) throw error;
      const { code, holder, fencingToken, advice } = error.detail;
      return {
        rejection: {
          code: WriteCode[code],
          ...(holder && { holder: holder.principal }),
          fencingToken,
          advice,
        },
      };
    } finally {
      clearInterval(heartbeats.get(taskId));
    }
  },
};

function granted({ continuation }: Grant, { id: leaseId, fencingToken }: Lease): Granted {
  const { attempt = 0, previousHolder, previousEnd = 0, notes = [] } = continuation ?? {};
  return {
    leaseId,
    fencingToken,
    attempt,
    ...(previousHolder && {
      previousHolder: previousHolder.principal,
      previousEnd: LeaseState[previousEnd as LeaseState],
    }),
    ...(notes[0] && { lastNote: notes[0].text }),
  };
}

function keepRenewed({ id: leaseId, taskId, fencingToken }: Lease, ttlMs: number): void {
  const renew = () => holdfast.leases.renewLease({ leaseId, fencingToken });
  // A renewal that fails shows in the next write, which is then refused.
  heartbeats.set(
    taskId,
    setInterval(() => renew().catch(() => {}), ttlMs / 4),
  );
}

async function obey({ id, act, arguments: given }: Command): Promise<Report> {
  try {
    const work = acts[act] as (...given: unknown[]) => Promise<unknown>;
    return { id, answer: await work(...given) };
  } catch (error) {
    return { id, error: explain(error) };
  }
}

const tell = (report: Report) => process.send?.(report);
process.on('message', async (command: Command) => tell(await obey(command)));
// Without the demo there is no work; Ctrl-C is the demo's to answer.
process.on('disconnect', () => process.exit());
process.on('SIGINT', () => {});
tell('listening');
