import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '../src/store/database.js';
import { HttpConnection } from './load/http-connection.js';
import { acquireAndRelease, newTask } from './load/leasing.js';
import { type BenchServer, startBenchServer } from './load/server.js';

/**
 * How late an expiry is recorded that nobody asks about: on an idle server, and beside clients that acquire and
 * release other tasks as fast as they can. The database's clock tells both the deadline and the record.
 *
 * Run: npm run bench:expiry
 */

const LEASES = 300;
/** Deadlines are spread over so many milliseconds, behind the shortest TTL. */
const SPREAD_MS = 10_000;
const SHORTEST_TTL_MS = 5_000;
const LOAD_CLIENTS = 16;
const GOALS_MS = { idle: 100, loaded: 1_000 };

interface Lateness {
  readonly p50: number;
  readonly p99: number;
  readonly most: number;
  /** Leases that were recorded as expired more or less than once. */
  readonly notOnce: number;
}

async function main(): Promise<void> {
  const server = await startBenchServer();
  try {
    console.log('server    leases  p50 ms  p99 ms  most ms  not once');
    const idle = await lateness(server, 'idle');
    tell('idle', idle);
    const load = startLoad(server);
    const loaded = await lateness(server, 'loaded');
    const { rate } = await load.stop();
    tell('loaded', loaded);
    console.log(`The load: ${LOAD_CLIENTS} clients, ${rate.toFixed(0)} calls a second.`);
    for (const [kind, { p99, notOnce }] of Object.entries({ idle, loaded })) {
      const goal = GOALS_MS[kind as keyof typeof GOALS_MS];
      const reached = p99 <= goal && notOnce === 0;
      console.log(
        `Goal: p99 within ${goal} ms, ${kind}: ${reached ? 'reached' : 'missed'} (${p99.toFixed(0)}).`,
      );
      if (!reached) process.exitCode = 1;
    }
  } finally {
    await server.stop();
  }
}

function tell(name: string, { p50, p99, most, notOnce }: Lateness): void {
  const cells = [LEASES, p50.toFixed(1), p99.toFixed(1), most.toFixed(1), notOnce];
  const widths = [6, 6, 6, 7, 8];
  console.log([name.padEnd(8), ...cells.map((cell, i) => String(cell).padStart(widths[i] ?? 0))].join('  '));
}

async function lateness(server: BenchServer, execution: string): Promise<Lateness> {
  const connections = Array.from({ length: 8 }, () => new HttpConnection(server.port));
  const database = openDatabase({ url: server.databaseUrl, poolSize: 1 });
  try {
    await Promise.all(
      connections.map(async (connection, c) => {
        for (let i = c; i < LEASES; i += connections.length) {
          const taskId = await newTask(connection, server, `${execution} ${i}`);
          const ttlMs = SHORTEST_TTL_MS + Math.random() * SPREAD_MS;
          const ttl = `${(ttlMs / 1_000).toFixed(3)}s`;
          const acquire = { taskId, executionId: execution, ttl };
          await connection.call('holdfast.v1.LeaseService/AcquireLease', acquire, server.token);
        }
      }),
    );
    const expired = async () => {
      const rows = await database.sql<{ late: number; events: number }[]>`
        SELECT ((l.ended_at - l.expires_at) / 1e3)::float8 AS late, (SELECT count(*)::int FROM event e
          WHERE e.project = l.project AND e.task_id = l.task_id AND e.kind = 18) AS events
        FROM lease l WHERE l.execution_id = ${execution} AND l."end" = 4 ORDER BY 1`;
      return [...rows];
    };
    const giveUp = performance.now() + SHORTEST_TTL_MS + SPREAD_MS + 30_000;
    let rows = await expired();
    for (; rows.length < LEASES && performance.now() < giveUp; rows = await expired()) await sleep(500);
    if (rows.length < LEASES) throw new Error(`${LEASES - rows.length} leases were not recorded as expired`);
    const at = (share: number) => rows[Math.min(rows.length - 1, Math.floor(rows.length * share))]?.late ?? 0;
    return {
      p50: at(0.5),
      p99: at(0.99),
      most: at(1),
      notOnce: rows.filter(({ events }) => events !== 1).length,
    };
  } finally {
    for (const connection of connections) connection.close();
    await database.close();
  }
}

/** Acquires and releases until it is stopped. */
function startLoad(server: BenchServer) {
  let over = false;
  let calls = 0;
  const started = performance.now();
  const client = async (i: number) => {
    const connection = new HttpConnection(server.port);
    const taskId = await newTask(connection, server, `load ${i}`);
    while (!over) {
      await acquireAndRelease(connection, server, taskId, `load-${i}`);
      calls += 2;
    }
    connection.close();
  };
  const clients = Promise.all(Array.from({ length: LOAD_CLIENTS }, (_, i) => client(i)));
  return {
    async stop() {
      over = true;
      await clients;
      return { rate: (calls / (performance.now() - started)) * 1_000 };
    },
  };
}

await main();
