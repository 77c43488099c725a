/**
 * One agent of the demo: a process of its own that gets what any agent gets (HOLDFAST_URL, HOLDFAST_TOKEN and
 * HOLDFAST_EXECUTION_ID), is told over IPC what to do next, and tells what came of it.
 */
import { durationFromMs } from '@bufbuild/protobuf/wkt';
import { createHoldfast, explain, WriteRejected } from '@holdfast/client';
import type { Lease } from '@holdfast/proto/lease';
import { TaskStatus } from '@holdfast/proto/task';
import type { AgentActs, Command, Report } from './agent-acts.js';

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
    return tasks.filter((task) => task.unmetDependencies === 0);
  },
  async acquire(taskId, ttlMs) {
    const { outcome } = await holdfast.leases.acquireLease({
      taskId,
      executionId,
      ttl: durationFromMs(ttlMs),
      requestId: crypto.randomUUID(),
    });
    if (outcome.case === 'grant' && outcome.value.lease) keepRenewed(outcome.value.lease, ttlMs);
    return outcome;
  },
  async note(taskId, text, proof) {
    const { note } = await holdfast.tasks.addNote({ taskId, text, proof, executionId });
    return note;
  },
  async complete(taskId, result, proof) {
    try {
      const { task } = await holdfast.tasks.completeTask({ taskId, result, proof, executionId });
      return { task };
    } catch (error) {
      if (!(error instanceof WriteRejected)) throw error;
      return { rejection: error.detail };
    } finally {
      clearInterval(heartbeats.get(taskId));
    }
  },
};

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
