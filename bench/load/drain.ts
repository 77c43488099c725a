import { Logger, makeWorkerUtils, runOnce } from 'graphile-worker';
import PgBoss from 'pg-boss';
import postgres from 'postgres';
import { driverTarget } from '../../src/cluster/database-url.js';
import { HttpConnection } from './http-connection.js';
import type { BenchServer } from './server.js';

/** A queue that is filled and then emptied by so many workers at once, each taking and finishing one job at a time. */
export interface Contestant {
  readonly name: string;
  /** What it does for a job, for the reader of its rate. */
  readonly perJob: string;
  fill(jobs: number): Promise<void>;
  /** Answers how many jobs were done. */
  drain(workers: number): Promise<number>;
  stop(): Promise<void>;
}

/** As many connections as a Holdfast server has: all share one Postgres, and its settings. */
const POOL = 16;

/** Each in a database of its own, on the server's Postgres. */
export async function contestants(server: BenchServer): Promise<Contestant[]> {
  const sql = open(server.databaseUrl);
  try {
    for (const name of ['pgboss', 'graphile']) await sql.unsafe(`CREATE DATABASE ${name}`);
  } finally {
    await sql.end({ timeout: 5 });
  }
  return [
    holdfast(server),
    await pgBoss(databaseOf(server.databaseUrl, 'pgboss')),
    await graphileWorker(databaseOf(server.databaseUrl, 'graphile')),
  ];
}

function open(url: string): postgres.Sql {
  const target = driverTarget(url);
  return postgres(target.url, { ...target.options, max: 1, onnotice: () => {} });
}

function databaseOf(url: string, name: string): string {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
}

type NextAnswer = { grant?: { lease: { id: string; taskId: string; fencingToken: string } } };

function holdfast({ port, token, databaseUrl }: BenchServer): Contestant {
  let fills = 0;
  return {
    name: 'Holdfast',
    perJob:
      'two authenticated RPCs to another process: a lease with a fencing token and a deadline, fenced completion, ' +
      'dependents readied, three events in an ordered history, all kept',
    async fill(jobs) {
      const sql = open(databaseUrl);
      fills += 1;
      await sql.unsafe(`
        INSERT INTO task (project, id, title, body, labels, created_at, created_by, updated_at)
        SELECT 'default', 'drain-${fills}-' || n, 'a job', '', '{}', 1, 'bench', 1 FROM generate_series(1, ${jobs}) n;
        INSERT INTO task_state (project, task_id, status, priority, fencing_token)
        SELECT 'default', 'drain-${fills}-' || n, 1, 0, 0 FROM generate_series(1, ${jobs}) n;
        INSERT INTO queue (project, task_id, standing, priority, plan_order, seq, labels)
        SELECT project, id, 1, 0, 0, seq, labels FROM task WHERE id LIKE 'drain-${fills}-%'`);
      await sql.unsafe('ANALYZE');
      await sql.end({ timeout: 5 });
    },
    drain: (workers) =>
      each(workers, async (worker) => {
        const connection = new HttpConnection(port);
        const executionId = `drain-${worker}`;
        try {
          for (let done = 0; ; done++) {
            const { grant } = await connection.call<NextAnswer>(
              'holdfast.v1.LeaseService/AcquireNextTask',
              { executionId },
              token,
            );
            if (!grant) return done;
            const { id: leaseId, taskId, fencingToken } = grant.lease;
            await connection.call(
              'holdfast.v1.TaskService/CompleteTask',
              { taskId, executionId, proof: { leaseId, fencingToken } },
              token,
            );
          }
        } finally {
          connection.close();
        }
      }),
    stop: async () => {},
  };
}

async function pgBoss(url: string): Promise<Contestant> {
  const boss = new PgBoss({ connectionString: url, max: POOL, supervise: false, schedule: false });
  boss.on('error', (error) => {
    throw error;
  });
  await boss.start();
  await boss.createQueue('drain');
  return {
    name: 'pg-boss',
    perJob:
      'two statements from this process: the job marked active, then completed; the row is kept, no events, no fencing',
    async fill(jobs) {
      await boss.insert(Array.from({ length: jobs }, (_, n) => ({ name: 'drain', data: { n } })));
    },
    drain: (workers) =>
      each(workers, async () => {
        for (let done = 0; ; done++) {
          const [job] = await boss.fetch('drain');
          if (!job) return done;
          await boss.complete('drain', job.id);
        }
      }),
    stop: () => boss.stop({ graceful: false, wait: true }),
  };
}

async function graphileWorker(url: string): Promise<Contestant> {
  const logger = new Logger(() => () => {});
  const utils = await makeWorkerUtils({ connectionString: url, logger });
  await utils.migrate();
  return {
    name: 'graphile-worker',
    perJob:
      'two statements from this process: the job locked for its worker, then deleted; nothing is kept, no events, no fencing',
    async fill(jobs) {
      await utils.withPgClient((client) =>
        client.query(
          `SELECT graphile_worker.add_job('drain', json_build_object('n', n)) FROM generate_series(1, $1::integer) n`,
          [jobs],
        ),
      );
    },
    async drain(workers) {
      let done = 0;
      await runOnce({
        connectionString: url,
        concurrency: workers,
        maxPoolSize: POOL,
        noHandleSignals: true,
        logger,
        taskList: {
          drain: async () => {
            done += 1;
          },
        },
      });
      return done;
    },
    stop: async () => {
      await utils.release();
    },
  };
}

/** Runs all workers at once and adds up what they did. */
async function each(workers: number, work: (worker: number) => Promise<number>): Promise<number> {
  const done = await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)));
  return done.reduce((sum, n) => sum + n, 0);
}
