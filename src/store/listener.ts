import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Sql } from './database.js';

export interface ListenerOptions {
  /** What is heard, by channel; payloads as they were sent. Must not throw. */
  readonly channels: Readonly<Record<string, (payload: string) => void>>;
  /** Listening began, for the first time or again: what was sent before is lost. */
  readonly onListening: () => void;
  readonly onFault: (error: unknown) => void;
  /** Milliseconds between two questions to the connection, which has as long again to answer. */
  readonly probeMs?: number;
}

/** A connection that listens to channels, for as long as the process lives. */
export interface Listener {
  /** Ends it at once. May be called twice. */
  close(): void;
}

/**
 * Listens on a connection of its own and makes a new one whenever that fails. The driver's own `listen` gives up when
 * its first attempt to reconnect fails, and does not notice a connection that went silent without being closed: so
 * the connection is asked something every few seconds.
 */
export function openListener(
  database: Database,
  { channels, onListening, onFault, probeMs = 5_000 }: ListenerOptions,
): Listener {
  let closing = false;
  let lost = () => {};

  /** Rejects when the connection has failed, or is to end. */
  const listenOn = async (sql: Sql, signal: AbortSignal): Promise<never> => {
    const ask = (statement: Promise<unknown>) =>
      Promise.race([statement, failAfter(probeMs, 'the connection that listens for hints went silent')]);
    for (const channel of Object.keys(channels)) await ask(sql`LISTEN ${sql(channel)}`);
    onListening();
    for (;;) {
      await sleep(probeMs, undefined, { ref: false, signal });
      await ask(sql`SELECT 1`);
    }
  };

  const run = async () => {
    while (!closing) {
      const ending = new AbortController();
      lost = () => ending.abort(new Error('the connection that listens for hints was closed'));
      const sql = database.openListening((channel, payload) => channels[channel]?.(payload), lost);
      try {
        await listenOn(sql, ending.signal);
      } catch (error) {
        if (!closing) onFault(error);
      }
      sql.end({ timeout: 0 }).catch(() => {});
      // Not at once: the database may be starting, and other replicas come back, too.
      if (!closing) await sleep(Math.min(1_000, probeMs) * Math.random(), undefined, { ref: false });
    }
  };
  void run();
  return {
    close() {
      closing = true;
      lost();
    },
  };
}

async function failAfter(ms: number, message: string): Promise<never> {
  await sleep(ms, undefined, { ref: false });
  throw new Error(message);
}
