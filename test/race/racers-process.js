// A client process of the race tests: many executions, each on a connection of its own.
// Reads one JSON document a line on stdin and answers each with one on stdout.
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHoldfast, WriteRejected } from '@holdfast/client';

let racers = [];

const commands = {
  /** Opens the connections, so that the race itself starts with all of them warm. */
  async connect({ callers }) {
    racers = callers.map((caller) => createHoldfast(caller));
    await Promise.all(racers.map((racer) => racer.projects.whoAmI({})));
  },

  /** Everybody reaches for the same task at once. */
  race: ({ taskId }) => Promise.all(racers.map((racer) => acquire(racer, taskId, 60_000))),

  /** Everybody takes and gives back tasks in a loop, and sometimes forgets to. */
  async loop({ taskIds, ms }) {
    const until = performance.now() + ms;
    const grants = [];
    const errors = [];
    const work = async (racer) => {
      while (performance.now() < until) {
        const taskId = taskIds[Math.floor(Math.random() * taskIds.length)];
        try {
          const { lease, renewed } = await acquire(racer, taskId, 1_000);
          if (!lease) {
            await sleep(Math.random() * 100);
            continue;
          }
          if (!renewed) grants.push({ taskId, leaseId: lease.leaseId, fencingToken: lease.fencingToken });
          const proof = { leaseId: lease.leaseId, fencingToken: BigInt(lease.fencingToken) };
          if (Math.random() < 0.3) await racer.leases.renewLease(proof);
          if (Math.random() < 0.9) await racer.leases.releaseLease(proof);
        } catch (error) {
          // On a slow machine a lease of 1 s may be over before its renewal arrives.
          if (!(error instanceof WriteRejected))
            errors.push(`${error.name} ${error.code ?? ''} ${error.message}`);
        }
      }
    };
    await Promise.all(racers.map(work));
    return { grants, errors };
  },

  /** Everybody takes one task and keeps it, until this process is killed. */
  hold: ({ taskIds, ttlMs }) => Promise.all(racers.map((racer, i) => acquire(racer, taskIds[i], ttlMs))),
};

async function acquire(racer, taskId, ttlMs) {
  const { outcome } = await racer.leases.acquireLease({
    taskId,
    executionId: racer.executionId,
    ttl: { seconds: BigInt(Math.floor(ttlMs / 1_000)), nanos: (ttlMs % 1_000) * 1_000_000 },
  });
  const { lease, renewed, reason, holder } = outcome.value;
  if (outcome.case === 'refusal') return { reason, holder: holder?.executionId };
  return { renewed, lease: { leaseId: lease.id, fencingToken: lease.fencingToken.toString() } };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { command, ...input } = JSON.parse(line);
  const answer = await commands[command](input).catch((error) => ({ failed: String(error) }));
  process.stdout.write(`${JSON.stringify(answer ?? null)}\n`);
}
process.exit();
