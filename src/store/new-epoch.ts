import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { decideExpiry } from '../domain/lease-end.js';
import { revokeForNewEpoch } from '../domain/new-epoch.js';
import type { Settings } from '../domain/settings.js';
import { lapsedLease } from '../domain/task-state.js';
import { apply } from './apply.js';
import type { ChangeItem } from './change-item.js';
import { type Database, openDatabase } from './database.js';
import { Contention, faultOf } from './database-error.js';
import { lastNote } from './notes.js';
import { SELECT_SETTINGS, settingsOf } from './read-task.js';
import { createStore, type Store } from './store.js';
import { micros, type Row, SELECT_STATE, stateOf } from './task-row.js';

/** What beginning a new epoch did. */
export interface NewEpoch {
  readonly epoch: string;
  readonly previousEpoch: string;
  /** Every token and every position from now on is above this. */
  readonly countersFrom: bigint;
  readonly projects: number;
  readonly tasks: number;
  /** External keys whose counters were moved, those of deleted tasks included. */
  readonly keys: number;
  /** Leases that were live. */
  readonly revoked: number;
  /** Leases whose deadline had passed before anybody recorded it. */
  readonly expired: number;
}

/** Servers, or others like them, are connected to the database. */
export class DatabaseInUse extends Error {
  override readonly name = 'DatabaseInUse';
}

/**
 * Counters go on from the database's clock in microseconds. Nobody is granted one task a million times a second, and
 * no project has that many events: so the clock is above whatever was handed out since any backup, however old the
 * backup is and however often it was restored. A number counted on from the backup's own would be the same at every
 * restore of it. And it stays below 2^53, so that it survives JSON, until the year 2255.
 *
 * Should the clock have gone back, counters rise by this much at least.
 */
const LEAST_JUMP = 1_000_000_000;

const BATCH = 500;

const LOOKS = 10;
const LOOK_AGAIN_MS = 100;

/**
 * Makes a restored database one that never was before: no token and no position that was handed out since the backup
 * is handed out again, and whoever holds something from then can tell.
 *
 * All leases end: the live ones as REVOKED, the lapsed ones as EXPIRED, each with its event. Then, in one statement, the
 * database gets a new epoch, every fencing counter and every history jumps, and each project is told (SETTINGS_CHANGED
 * of `epoch`). One transaction, on a connection of its own, in which nobody else changes anything. If that connection
 * breaks between two statements, the driver runs the later ones on another one and outside of the transaction: the
 * jump then does nothing, and a commit that committed nothing is noticed. What may have happened then is that leases have
 * ended; to run it again completes it.
 *
 * @param url a migrated database, which no server uses
 * @throws DatabaseInUse when one does, as far as the database can tell
 */
export async function beginNewEpoch(url: string, defaults: Settings): Promise<NewEpoch> {
  const database = openDatabase({ url, poolSize: 1 });
  const { sql } = database;
  const store = createStore(database, defaults, { eventsWritten() {}, tasksReady() {}, deadlineSet() {} });
  const transaction = randomUUID();
  try {
    await sql`BEGIN`;
    await sql`SELECT set_config('holdfast.transaction', ${transaction}, true), set_config('statement_timeout', '0', true)`;
    await lockOut(database);
    const ended = await endLeases(store);
    const moved = await moveOn(database, transaction);
    await sql`COMMIT`;
    const [now] = await sql<{ epoch: string }[]>`SELECT epoch FROM meta`;
    if (now?.epoch !== moved.epoch) throw broken();
    return { ...moved, ...ended };
  } finally {
    // What was not committed is rolled back with the connection.
    await database.close();
  }
}

/**
 * Refuses when servers use a database: they would go on with the epoch that they know.
 *
 * @throws DatabaseInUse
 */
export async function requireUnused(url: string): Promise<void> {
  const database = openDatabase({ url, poolSize: 1 });
  try {
    // A server that has just stopped leaves connections that are just ending.
    for (let looks = 0; looks < LOOKS; looks++) {
      if (looks > 0) await sleep(LOOK_AGAIN_MS);
      const [row] = await database.sql<{ others: number }[]>`
        SELECT count(*)::int AS others FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'holdfast' AND pid <> pg_backend_pid()`;
      if (row?.others === 0) return;
    }
    throw new DatabaseInUse('A server uses this database. Stop all that do, then try again.');
  } finally {
    await database.close();
  }
}

const broken = () =>
  new Error('The connection to the database broke, and there is no new epoch. Run it again.');

/** Keeps out whoever starts meanwhile, until the end of the transaction. */
async function lockOut({ sql }: Database): Promise<void> {
  try {
    await sql`LOCK TABLE project, task_state, lease, event, history_head, fence, meta IN EXCLUSIVE MODE`;
  } catch (error) {
    if (!['TIMED_OUT', 'CONTENDED'].includes(faultOf(error))) throw error;
    throw new DatabaseInUse('Somebody is changing this database. Stop all servers, then try again.');
  }
}

async function endLeases(store: Store): Promise<{ revoked: number; expired: number }> {
  const { sql } = store.database;
  const ended = { revoked: 0, expired: 0 };
  for (let overtaken = 0; overtaken < 3; ) {
    const rows = await sql<Row[]>`
      SELECT s.project, holdfast_now() AS now, ${sql.unsafe(SELECT_SETTINGS)}, ${sql.unsafe(SELECT_STATE)}
      FROM lease l
      JOIN task_state s ON s.project = l.project AND s.task_id = l.task_id AND s.lease_id = l.id
      JOIN project p ON p.id = l.project
      WHERE l."end" IS NULL ORDER BY s.project, s.task_id LIMIT ${BATCH}`;
    if (rows.length === 0) return ended;
    const items: ChangeItem[] = [];
    for (const row of rows) items.push(...(await ending(store, row)));
    const results = await apply(sql, items, 'wait');
    const before = ended.revoked + ended.expired;
    for (const [i, { kind }] of results.entries()) {
      if (kind !== 'APPLIED') continue;
      const lease = items[i]?.change.lease;
      if (lease?.op === 'end' && lease.end === 'EXPIRED') ended.expired++;
      else ended.revoked++;
    }
    // Only a deadline can have come in between.
    if (ended.revoked + ended.expired === before) overtaken++;
  }
  throw new Contention();
}

/** How the lease of a task's row ends. */
async function ending(store: Store, row: Row): Promise<ChangeItem[]> {
  const project = row.project as string;
  const read = { now: micros(row.now), state: stateOf(row), settings: settingsOf(row, store.defaults) };
  const { state, now } = read;
  const lapsed = lapsedLease(state, now);
  if (lapsed) {
    const note = state.noteCount > 0 ? await lastNote(store, project, state.taskId) : undefined;
    return [{ project, change: decideExpiry(read, lapsed, note) }];
  }
  return state.lease ? [{ project, change: revokeForNewEpoch(state, state.lease) }] : [];
}

async function moveOn(
  { sql }: Database,
  transaction: string,
): Promise<Omit<NewEpoch, 'revoked' | 'expired'>> {
  const [row] = await sql<Row[]>`
    WITH old AS MATERIALIZED (
      SELECT epoch, greatest(counters_from + ${LEAST_JUMP}::bigint, holdfast_now()) AS counters_from FROM meta
      WHERE current_setting('holdfast.transaction', true) = ${transaction}
    ), fresh AS (
      UPDATE meta SET epoch = gen_random_uuid()::text, counters_from = old.counters_from FROM old
      RETURNING meta.epoch, meta.counters_from
    ), histories AS (
      INSERT INTO history_head (project, position) SELECT p.id, old.counters_from FROM project p, old
      ON CONFLICT (project) DO UPDATE
        SET position = greatest(history_head.position + ${LEAST_JUMP}::bigint, excluded.position)
      RETURNING 1
    ), tasks AS (
      UPDATE task_state SET fencing_token = greatest(fencing_token + ${LEAST_JUMP}::bigint, old.counters_from) FROM old
      RETURNING 1
    ), keys AS (
      UPDATE fence SET fencing_token = greatest(fencing_token + ${LEAST_JUMP}::bigint, old.counters_from) FROM old
      RETURNING 1
    ), told AS (
      INSERT INTO event (project, kind, at, payload)
      SELECT p.id, 26, holdfast_now(), jsonb_build_object('title', p.title, 'changes', jsonb_build_array(
        jsonb_build_object('field', 'epoch', 'before', old.epoch, 'after', fresh.epoch)))
      FROM project p, old, fresh
    )
    SELECT fresh.epoch, old.epoch AS previous, old.counters_from,
      (SELECT count(*)::int FROM histories) AS projects, (SELECT count(*)::int FROM tasks) AS tasks,
      (SELECT count(*)::int FROM keys) AS keys
    FROM fresh, old`;
  if (!row) throw broken();
  return {
    epoch: row.epoch as string,
    previousEpoch: row.previous as string,
    countersFrom: row.counters_from as bigint,
    projects: row.projects as number,
    tasks: row.tasks as number,
    keys: row.keys as number,
  };
}
