import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import postgres from 'postgres';
import { driverTarget } from '../../src/cluster/database-url.js';
import { decideAcquire } from '../../src/domain/acquire.js';
import { releasing } from '../../src/domain/lease-end.js';
import type { Settings } from '../../src/domain/settings.js';
import { apply } from '../../src/store/apply.js';
import type { Sql } from '../../src/store/database.js';
import { readTasks } from '../../src/store/read-task.js';

const run = promisify(execFile);

const SETTINGS: Settings = {
  enforcement: 'WARN',
  defaultTtl: 900_000_000,
  maxTtl: 7_200_000_000,
  maxAge: 86_400_000_000,
  maxExpiries: 5,
};
const CALLER = {
  principal: 'bench',
  kind: 'AGENT',
  role: 'agent',
  owner: false,
  executionId: 'EXECUTION',
} as const;
/** Values of the recorded statements that differ from run to run, and pgbench's variables for them. */
const VERSION = 771_771_771n;

interface Statement {
  readonly text: string;
  readonly params: readonly unknown[];
}

/**
 * What Postgres alone does: pgbench runs the very statements that the server sends for an acquire and a release,
 * recorded from the code, each client on a task of its own.
 *
 * @returns acquires and releases a second, counted each
 */
export async function pgbenchRate(databaseUrl: string, clients: number, seconds: number): Promise<number> {
  const target = driverTarget(databaseUrl);
  const recorded: Statement[] = [];
  const sql = postgres(target.url, {
    ...target.options,
    max: 1,
    onnotice: () => {},
    types: { bigint: postgres.BigInt },
    debug: (_connection, text, params) => recorded.push({ text, params }),
  }) as Sql;
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-pgbench-'));
  try {
    const prefix = randomUUID();
    await sql`
      INSERT INTO task (project, id, title, body, labels, created_at, created_by, updated_at)
      SELECT 'default', ${prefix} || n, 'bench', '', '{}', holdfast_now(), 'bench', holdfast_now()
      FROM generate_series(0, ${clients - 1}::integer) n`;
    await sql`
      INSERT INTO task_state (project, task_id, status, priority, fencing_token)
      SELECT 'default', ${prefix} || n, 1, 0, 0 FROM generate_series(0, ${clients - 1}::integer) n`;
    await sql`
      INSERT INTO execution (project, principal, id)
      SELECT 'default', 'bench', ${prefix} || n FROM generate_series(0, ${clients - 1}::integer) n`;
    const script = join(folder, 'acquire-release.sql');
    await writeFile(script, await scriptOf(sql, recorded, prefix));
    const { stdout } = await run(await pgbench(), [
      '--no-vacuum',
      '--protocol=prepared',
      `--client=${clients}`,
      '--jobs=1',
      `--time=${seconds}`,
      `--file=${script}`,
      databaseUrl,
    ]);
    const tps = /^tps = ([\d.]+)/m.exec(stdout)?.[1];
    if (tps === undefined) throw new Error(`pgbench said nothing of its rate:\n${stdout}`);
    return Number(tps) * 2;
  } finally {
    await sql.end({ timeout: 5 });
    await rm(folder, { recursive: true, force: true });
  }
}

async function pgbench(): Promise<string> {
  const { stdout } = await run('sh', [
    '-c',
    'command -v pgbench || ls /usr/lib/postgresql/*/bin/pgbench | tail -1',
  ]);
  const path = stdout.trim();
  if (path === '') throw new Error('pgbench is not on this machine; install postgresql-contrib');
  return path;
}

/** Read, grant, read, release: as the server does them, with what pgbench has to fill in. */
async function scriptOf(sql: Sql, recorded: Statement[], prefix: string): Promise<string> {
  const execution = { principal: CALLER.principal, id: 'EXECUTION' };
  const statementOf = async (send: () => Promise<unknown>) => {
    recorded.length = 0;
    await send();
    const statement = recorded.at(-1);
    if (!statement) throw new Error('nothing was sent');
    return statement;
  };
  const read = await statementOf(() =>
    readTasks(sql, SETTINGS, [{ project: 'default', taskId: 'TASK', execution }]),
  );
  const [sample] = await readTasks(sql, SETTINGS, [{ project: 'default', taskId: `${prefix}0` }]);
  if (!sample?.found) throw new Error('the sample task is gone');
  const state = { ...sample.found.state, taskId: 'TASK', leaseVersion: VERSION };
  const snapshot = { ...sample.found, state };
  const grant = decideAcquire(snapshot, CALLER, false, {
    executionId: 'EXECUTION',
    ttl: undefined,
    leaseId: 'LEASE',
  });
  if ('problem' in grant || !grant.change) throw new Error('the sample task cannot be leased');
  const lease = {
    id: 'LEASE',
    holder: { principal: 'bench', executionId: 'EXECUTION' },
    grantedAt: snapshot.now,
    expiresAt: Number.MAX_SAFE_INTEGER,
    ttl: SETTINGS.defaultTtl,
  };
  const held = { ...state, status: 'IN_PROGRESS', lease } as const;
  const release = releasing(held, lease, CALLER, 'RELEASED');
  const change = grant.change;
  const granted = await statementOf(() => apply(sql, [{ project: 'default', change }], 'skip'));
  const released = await statementOf(() => apply(sql, [{ project: 'default', change: release }], 'skip'));
  const fill = (statement: Statement) => filled(statement, prefix);
  return [
    `${fill(read)} \\gset r_`,
    `${fill(granted)} \\gset g_`,
    `${fill(read)} \\gset r_`,
    `${fill(released)} \\gset g_`,
  ].join('\n');
}

function filled({ text, params }: Statement, prefix: string): string {
  const literal = (value: unknown): string => {
    if (value === null || value === undefined) return 'NULL';
    // pgbench takes a colon and a digit for a variable.
    const quoted = `'${String(value).replaceAll("'", "''").replaceAll('":', '": ')}'`;
    return quoted
      .replaceAll('TASK', `${prefix}' || :client_id::text || '`)
      .replaceAll('EXECUTION', `${prefix}' || :client_id::text || '`)
      .replaceAll('LEASE', `${prefix}' || :client_id::text || '-' || :r_s_fencing_token::text || '`)
      .replaceAll(String(VERSION), `' || :r_s_lease_version::text || '`);
  };
  return text
    .replace(/--.*$/gm, '')
    .replace(/\$(\d+)/g, (_, n) => `(${literal(params[Number(n) - 1])})`)
    .replace(/\s+/g, ' ')
    .trim();
}
