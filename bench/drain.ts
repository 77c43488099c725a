import { parseArgs } from 'node:util';
import { contestants } from './load/drain.js';
import { startBenchServer } from './load/server.js';

/**
 * Jobs a second that 32 workers take and finish, beside two job queues on the same Postgres in the same run. They do
 * less for a job, as the table says: the rates tell what the rest costs.
 *
 * Run: npm run bench:drain [-- --jobs 2000 --rounds 1]
 */

const { values: options } = parseArgs({
  options: {
    jobs: { type: 'string', default: '10000' },
    workers: { type: 'string', default: '32' },
    rounds: { type: 'string', default: '3' },
  },
});
const JOBS = Number(options.jobs);
const WORKERS = Number(options.workers);
const ROUNDS = Number(options.rounds);

async function main(): Promise<void> {
  const server = await startBenchServer();
  try {
    const all = await contestants(server);
    const rates = new Map(all.map(({ name }) => [name, [] as number[]]));
    for (let round = 0; round < ROUNDS; round++) {
      for (const { name, fill, drain } of all) {
        await fill(JOBS);
        const started = performance.now();
        const done = await drain(WORKERS);
        const seconds = (performance.now() - started) / 1_000;
        if (done !== JOBS) throw new Error(`${name} did ${done} of ${JOBS} jobs`);
        rates.get(name)?.push(done / seconds);
      }
    }
    console.log(`${JOBS} jobs, ${WORKERS} workers: jobs a second, the median of ${ROUNDS} rounds`);
    for (const { name, perJob } of all) {
      const sorted = (rates.get(name) ?? []).toSorted((a, b) => a - b);
      const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
      console.log(`${name.padEnd(16)} ${median.toFixed(0).padStart(6)}  ${perJob}`);
    }
    for (const one of all) await one.stop();
  } finally {
    await server.stop();
  }
}

await main();
