import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import postgres from 'postgres';
import { driverTarget } from '../cluster/database-url.js';

export type Sql = postgres.Sql<{ bigint: bigint }>;

/** The pool, once for statements written out in SQL and once for Drizzle's typed ones. */
export interface Database {
  readonly poolSize: number;
  readonly sql: Sql;
  readonly orm: PostgresJsDatabase;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** As psql takes it, Unix sockets included. */
  readonly url: string;
  /** Connections, each running one statement at a time. Default 16. */
  readonly poolSize?: number;
}

/** A statement that runs longer than this is ended: it would hold locks and a snapshot that others need. */
const STATEMENT_TIMEOUT_MS = 30_000;
/** Longer waits for a row are given up and answered as contention. */
const LOCK_TIMEOUT_MS = 10_000;

/** Closing waits so long for statements under way, then cuts them: one that waits for a lock may wait long. */
const CLOSE_SECONDS = 1;

export function openDatabase({ url, poolSize = 16 }: DatabaseOptions): Database {
  const target = driverTarget(url);
  const sql = postgres(target.url, {
    ...target.options,
    max: poolSize,
    connect_timeout: 10,
    onnotice: () => {},
    types: { bigint: postgres.BigInt },
    // The driver's own question about array types is asked on each new connection with nobody to catch its
    // error: a backend that dies then would end the process. Arrays travel as JSON instead.
    fetch_types: false,
    connection: {
      application_name: 'holdfast',
      statement_timeout: STATEMENT_TIMEOUT_MS,
      lock_timeout: LOCK_TIMEOUT_MS,
      idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    },
  });
  return { poolSize, sql, orm: drizzle(sql), close: () => sql.end({ timeout: CLOSE_SECONDS }) };
}
