import { HttpConnection } from './load/http-connection.js';
import { acquireAndRelease, newTask } from './load/leasing.js';
import { type Measured, measure } from './load/measure.js';
import { pgbenchRate } from './load/pgbench.js';
import { type BenchServer, startBenchServer } from './load/server.js';

/**
 * Acquire and release through RPC, beside a no-op RPC on the same server and beside Postgres alone doing the same
 * statements, all in one run: machines are noisy, so only the ratios mean something.
 *
 * Run: npm run bench:acquire-release
 */

const CLIENTS = [1, 8, 32];
/** The goal: at 32 clients, this share of the no-op RPC's rate. */
const GOAL = 0.6;

interface Task {
  readonly connection: HttpConnection;
  readonly id: string;
  readonly executionId: string;
}

async function main(): Promise<void> {
  const server = await startBenchServer();
  try {
    console.log(
      'clients  no-op RPC/s  authenticated no-op/s  acquire+release RPC/s  of no-op  p50 ms  p99 ms  pgbench/s',
    );
    let share = 0;
    for (const clients of CLIENTS) {
      const noop = await noopRate(server, clients);
      const whoAmI = await whoAmIRate(server, clients);
      const leases = await leaseRate(server, clients);
      const postgres = await pgbenchRate(server.databaseUrl, clients, 5);
      share = leases.rate / noop.rate;
      const cells = [
        clients,
        noop.rate.toFixed(0),
        whoAmI.rate.toFixed(0),
        leases.rate.toFixed(0),
        share.toFixed(2),
        (leases.p50 / 2).toFixed(2),
        (leases.p99 / 2).toFixed(2),
        postgres.toFixed(0),
      ];
      const widths = [7, 11, 21, 21, 8, 6, 6, 9];
      console.log(cells.map((cell, i) => String(cell).padStart(widths[i] ?? 0)).join('  '));
    }
    const verdict = share >= GOAL ? 'reached' : 'missed';
    console.log(
      `Goal: at ${CLIENTS.at(-1)} clients at least ${GOAL} of the no-op RPC's rate: ${verdict} (${share.toFixed(2)}).`,
    );
    if (share < GOAL) process.exitCode = 1;
  } finally {
    await server.stop();
  }
}

const connections = ({ port }: BenchServer, n: number) =>
  Array.from({ length: n }, () => new HttpConnection(port));

async function during<Client extends HttpConnection | Task>(
  clients: readonly Client[],
  step: (client: Client) => Promise<number>,
): Promise<Measured> {
  try {
    return await measure(clients, step);
  } finally {
    for (const client of clients) (client instanceof HttpConnection ? client : client.connection).close();
  }
}

const noopRate = (server: BenchServer, n: number) =>
  during(connections(server, n), async (connection) => {
    await connection.call('grpc.health.v1.Health/Check', {});
    return 1;
  });

const whoAmIRate = (server: BenchServer, n: number) =>
  during(connections(server, n), async (connection) => {
    await connection.call('holdfast.v1.ProjectService/WhoAmI', {}, server.token);
    return 1;
  });

async function leaseRate(server: BenchServer, n: number): Promise<Measured> {
  const tasks = await Promise.all(
    connections(server, n).map(
      async (connection, i): Promise<Task> => ({
        connection,
        id: await newTask(connection, server, `bench ${i}`),
        executionId: `bench-${n}-${i}`,
      }),
    ),
  );
  return during(tasks, async ({ connection, id, executionId }) => {
    await acquireAndRelease(connection, server, id, executionId);
    return 2;
  });
}

await main();
