import type { Sql } from 'postgres';
import { vi } from 'vitest';

/** A row that another session has locked, as a slow transaction elsewhere would. */
export interface HeldRow {
  /** Rolls back, so that nothing but the wait has happened. */
  release(): Promise<void>;
}

/** Locks rows by a plain SELECT … FOR UPDATE. */
export async function holdRow(
  sql: Sql,
  table: 'task_state' | 'execution',
  column: 'task_id' | 'id',
  value: string,
): Promise<HeldRow> {
  const session = await sql.reserve();
  await session`BEGIN`;
  const rows = await session`SELECT 1 FROM ${session(table)} WHERE ${session(column)} = ${value} FOR UPDATE`;
  if (rows.length === 0) throw new Error(`there is no row in ${table} to lock`);
  return {
    async release() {
      await session`ROLLBACK`;
      session.release();
    },
  };
}

/** Waits until so many of the server's statements wait for a lock. */
export async function untilWaiting(sql: Sql, statements: number): Promise<void> {
  await vi.waitFor(
    async () => {
      const [row] = await sql`
        SELECT count(*)::int AS waiting FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'holdfast' AND wait_event_type = 'Lock'`;
      if (row?.waiting !== statements) throw new Error(`${row?.waiting} statements wait, not ${statements}`);
    },
    { timeout: 5_000, interval: 5 },
  );
}

/** Waits until the database's clock is at an instant or past it. */
export async function untilClock(sql: Sql, instant: number): Promise<void> {
  await sql`SELECT pg_sleep(greatest(0, (${instant}::bigint - holdfast_now()) / 1e6 + 0.002))`;
}
