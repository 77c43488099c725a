import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import postgres from 'postgres';
import { driverTarget } from '../cluster/database-url.js';
import { withDenseRows } from './dense-rows.js';

export type Sql = postgres.Sql<{ bigint: bigint }>;

/** The connections, once for statements written out in SQL and once for Drizzle's typed ones. */
export interface Database {
  /** Connections of `sql`. */
  readonly poolSize: number;
  readonly sql: Sql;
  /**
   * A few connections for the batches that carry nearly every call, one under way of each kind. Their statements are
   * large, so that planning takes longer than running: here each is planned once a connection, for any parameters.
   */
  readonly hot: Sql;
  readonly orm: PostgresJsDatabase;
  /**
   * A connection of its own for LISTEN, made by its first statement. The caller ends it.
   *
   * @param onNotify hears what is sent to the channels
   * @param onClose the connection is gone; the next statement makes another, which listens to nothing
   */
  openListening(onNotify: (channel: string, payload: string) => void, onClose: () => void): Sql;
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

/** One for each kind of batch: identities, reads, changes, and what tells of no change. */
const MOST_HOT = 4;

/**
 * All that these statements look up, they look up by a key. A plan for any parameters may be older than the rows:
 * made when a table had one page, it would go on reading the table whole.
 */
const PLANNED_ONCE = { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off', jit: 'off' };

export function openDatabase({ url, poolSize = 16 }: DatabaseOptions): Database {
  const hotSize = Math.min(MOST_HOT, Math.floor(poolSize / 4));
  const sql = open(url, { max: poolSize - hotSize });
  const hot = hotSize === 0 ? sql : open(url, { max: hotSize }, PLANNED_ONCE);
  return {
    poolSize: poolSize - hotSize,
    sql,
    hot,
    orm: drizzle(sql),
    openListening: (onNotify, onClose) =>
      open(url, {
        max: 1,
        idle_timeout: 0,
        max_lifetime: null,
        onclose: onClose,
        // The driver's types leave it out: its own `listen` is made of it.
        ...{ onnotify: onNotify },
      }),
    close: async () => {
      await Promise.all([sql, hot].map((pool) => pool.end({ timeout: CLOSE_SECONDS })));
    },
  };
}

function open(
  url: string,
  options: postgres.Options<Record<string, postgres.PostgresType>>,
  settings: Record<string, string> = {},
): Sql {
  const target = driverTarget(url);
  const driver = postgres(target.url, {
    ...target.options,
    ...options,
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
      ...settings,
    },
  });
  return withDenseRows(driver);
}
