import type { Micros } from '../../src/domain/instant.js';
import { connect } from './postgres.js';

/** The clock of one test database, which a test moves by hand. */
export interface MovableClock {
  /** Moves it on, for every session at once. */
  advance(by: Micros): Promise<void>;
  /** What `holdfast_now()` answers. */
  now(): Promise<Micros>;
  /** Closes its connection; the database keeps the clock as it stands. */
  close(): Promise<void>;
}

/**
 * Puts a clock that stands still, unless moved, in the place of a test database's clock. Statements see it
 * move at once, also while they wait for a lock.
 *
 * @param start by default, what the clock said before
 */
export async function stopClock(databaseUrl: string, start?: Micros): Promise<MovableClock> {
  const sql = connect(databaseUrl, { max: 1 });
  const from = start ?? Number((await sql`SELECT holdfast_now() AS t`)[0]?.t);
  // A sequence, since its value is outside of snapshots, as a clock is.
  await sql.unsafe(`CREATE SEQUENCE test_clock MINVALUE 0 START ${from}`);
  await sql.unsafe(`SELECT setval('test_clock', ${from})`);
  await sql.unsafe(`
    CREATE OR REPLACE FUNCTION holdfast_now() RETURNS bigint LANGUAGE sql VOLATILE PARALLEL SAFE
    AS $$ SELECT last_value FROM test_clock $$`);
  return {
    async advance(by) {
      await sql`SELECT setval('test_clock', (SELECT last_value FROM test_clock) + ${by}::bigint)`;
    },
    async now() {
      return Number((await sql`SELECT holdfast_now() AS t`)[0]?.t);
    },
    close: () => sql.end(),
  };
}
