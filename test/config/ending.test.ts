import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connect, createTestDatabase } from '../support/postgres.js';
import { callJson, type ServeProcess, startServe } from './serve-process.js';

type Sql = ReturnType<typeof connect>;

let databaseUrl: string;
let sql: Sql;
beforeEach(async () => {
  ({ url: databaseUrl } = await createTestDatabase());
  sql = connect(databaseUrl, { max: 2 });
});
afterEach(() => sql.end({ timeout: 1 }));

const start = (workers: number, options = {}) =>
  startServe({ args: ['--database-url', databaseUrl, '--workers', String(workers)], ...options });

/** The processes that a process started. */
function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

/** A task whose row somebody else has locked, and a note on it that waits for that. */
async function stuckNote(server: ServeProcess, url: string) {
  const token = server.ownerToken();
  const { body } = await callJson(url, 'TaskService/CreateTask', { title: 'stuck' }, token);
  const { id: taskId } = body.task as { id: string };
  let unlock = () => {};
  const unlocked = new Promise<void>((resolve) => {
    unlock = resolve;
  });
  const locked = new Promise<void>((resolve, reject) => {
    sql
      .begin(async (holder) => {
        await holder`SELECT 1 FROM task_state WHERE task_id = ${taskId} FOR UPDATE`;
        resolve();
        await unlocked;
      })
      .catch(reject);
  });
  await locked;
  const note = callJson(url, 'TaskService/AddNote', { taskId, text: 'slow' }, token).catch(
    (error: Error) => error,
  );
  const waiting = () => sql`
    SELECT 1 FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'holdfast' AND wait_event_type = 'Lock'`;
  await expect.poll(async () => (await waiting()).length, { timeout: 5_000 }).toBeGreaterThan(0);
  return { note, unlock };
}

describe.skipIf(process.platform !== 'linux')('two workers', { timeout: 60_000 }, () => {
  it('both answer, one that was killed is replaced, and all end together', async () => {
    const server = start(2);
    const { url } = await server.ready;
    const token = server.ownerToken();
    const pid = server.child.pid ?? 0;
    const workers = childrenOf(pid);
    expect(workers).toHaveLength(2);
    const processesThatAnswer = async () => {
      const answers = await Promise.all(
        Array.from({ length: 16 }, async () => {
          const response = await fetch(`${url}/metrics`, { headers: { connection: 'close' } });
          return /^process_start_time_seconds (.*)$/m.exec(await response.text())?.[1];
        }),
      );
      return new Set(answers).size;
    };
    await expect.poll(processesThatAnswer, { timeout: 10_000 }).toBeGreaterThanOrEqual(1);
    for (let n = 0; n < 10; n++) {
      expect((await callJson(url, 'TaskService/CreateTask', { title: `t ${n}` }, token)).status).toBe(200);
    }
    const [victim = 0] = workers;
    process.kill(victim, 'SIGKILL');
    await expect
      .poll(() => childrenOf(pid).filter((child) => !workers.includes(child)).length, { timeout: 10_000 })
      .toBe(1);
    await expect.poll(async () => (await fetch(`${url}/readyz`)).status, { timeout: 10_000 }).toBe(200);
    expect(childrenOf(pid)).not.toContain(victim);

    const began = performance.now();
    const all = [pid, ...childrenOf(pid)];
    expect(await server.stop()).toEqual({ code: 0, signal: null });
    expect(performance.now() - began).toBeLessThan(10_000);
    for (const ended of all) expect(() => process.kill(ended, 0)).toThrow('ESRCH');
  });

  it('are not left behind when the first process is killed', async () => {
    const server = start(2);
    await server.ready;
    const workers = childrenOf(server.child.pid ?? 0);
    server.child.kill('SIGKILL');
    await server.ended;
    const alive = () => workers.filter((pid) => isAlive(pid));
    await expect.poll(alive, { timeout: 10_000 }).toEqual([]);
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe.skipIf(process.platform === 'win32').each([1, 2])(
  'with %i worker(s)',
  { timeout: 60_000 },
  (workers) => {
    it.each(['SIGTERM', 'SIGINT'] as const)(
      'what is under way at a %s to all processes is answered',
      async (signal) => {
        const server = start(workers, { ownGroup: true });
        const { url } = await server.ready;
        const { note, unlock } = await stuckNote(server, url);
        // As Ctrl-C in a terminal does it.
        process.kill(-(server.child.pid ?? 0), signal);
        await expect
          .poll(() =>
            // With workers, a connection that comes just as they stop may wait for one that never takes it.
            fetch(`${url}/healthz`, { signal: AbortSignal.timeout(500) }).then(
              () => 'served',
              () => 'refused',
            ),
          )
          .toBe('refused');
        unlock();
        expect(await note).toMatchObject({ status: 200, body: { note: { text: 'slow' } } });
        expect(await server.ended).toEqual({ code: 0, signal: null });
      },
    );

    it('it ends within ten seconds though a call hangs', async () => {
      const server = start(workers);
      const { url } = await server.ready;
      const { note, unlock } = await stuckNote(server, url);
      const began = performance.now();
      const ending = await server.stop();
      const took = performance.now() - began;
      unlock();
      await note;
      expect(ending.signal).toBeNull();
      expect(took).toBeLessThan(10_000);
    });
  },
);
