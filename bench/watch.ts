import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { HttpConnection } from './load/http-connection.js';
import { newTask } from './load/leasing.js';
import { type BenchServer, type Memory, startBenchServer } from './load/server.js';
import type { Order, Report, Wiring } from './load/watch-clients.js';

/**
 * A thousand watchers of one project on one server process, with the clients in another process of the same machine:
 * how long after its commit an event is with each of them, and what that costs the server, at several rates of
 * writes. The delay counts from the event's own instant, which the database reads just before the commit.
 *
 * Run: npm run bench:watch [own | http2 | shared]
 */

const WATCHERS = Number(process.env.WATCHERS ?? 1_000);
const SECONDS = Number(process.env.SECONDS ?? 15);
const RATES = [5, 20, 200];
const WARM_UP_SECONDS = 3;
/** Milliseconds at the 99th percentile, by rate; KiB of the server's memory for each watcher. */
const GOALS: Readonly<Record<number, number>> = { 20: 250, 200: 600 };
const GOAL_KIB = 30;
const GOAL_STUCK_MIB = 8;
const GOAL_STUCK_SHARE = 1.1;
/** Without and with one that never reads, in turn: the slowest hundredth is a matter of a few moments. */
const STUCK_ROUNDS = 4;
const MIB = 1024 * 1024;
/** Writers of notes; each waits for its answer. */
const WRITERS = 16;
const NOTE = 'n'.repeat(200);

class Clients {
  readonly #process: ChildProcess;

  constructor() {
    this.#process = fork(fileURLToPath(new URL('./load/watch-clients.ts', import.meta.url)), {
      execArgv: ['--import', 'tsx'],
    });
  }

  async tell<Answer>(order: Order): Promise<Answer> {
    this.#process.send(order);
    const [answer] = await once(this.#process, 'message');
    return answer as Answer;
  }

  stop(): void {
    this.#process.kill();
  }
}

/** Seconds of processor time that the server has had so far. */
async function cpuSeconds({ port }: BenchServer): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Number(/^process_cpu_seconds_total (\S+)$/m.exec(text)?.[1]);
}

/** Writes so many notes a second for a while, each an event of its own. */
async function write(
  server: BenchServer,
  taskIds: readonly string[],
  rate: number,
  seconds: number,
): Promise<number> {
  const writers = Array.from({ length: WRITERS }, () => new HttpConnection(server.port));
  const began = performance.now();
  let sent = 0;
  await Promise.all(
    writers.map(async (writer, i) => {
      while (performance.now() - began < seconds * 1_000) {
        const due = began + (sent++ / rate) * 1_000;
        await sleep(Math.max(0, due - performance.now()));
        await writer.call(
          'holdfast.v1.TaskService/AddNote',
          { taskId: taskIds[i], text: NOTE },
          server.token,
        );
      }
    }),
  );
  for (const writer of writers) writer.close();
  return sent / ((performance.now() - began) / 1_000);
}

interface Measured extends Report {
  readonly written: number;
  /** Share of one core. */
  readonly cpu: number;
  readonly seconds: number;
}

async function measure(
  server: BenchServer,
  clients: Clients,
  taskIds: readonly string[],
  rate: number,
): Promise<Measured> {
  await clients.tell({ do: 'reset' });
  const before = await cpuSeconds(server);
  const began = performance.now();
  const written = await write(server, taskIds, rate, SECONDS);
  // What was written last is told a little later.
  await sleep(1_000);
  const seconds = (performance.now() - began) / 1_000;
  const cpu = ((await cpuSeconds(server)) - before) / seconds;
  return { ...(await clients.tell<Report>({ do: 'report' })), written, cpu, seconds };
}

function verdict(what: string, value: number, goal: number, unit: string): string {
  if (value > goal) process.exitCode = 1;
  return `Goal: ${what} at most ${goal} ${unit}: ${value <= goal ? 'reached' : 'missed'} (${value.toFixed(1)}).`;
}

/** On a server that has done nothing else: what one that worked gave back is in pieces, and the watchers fill them. */
async function memoryOfWatchers(wiring: Wiring): Promise<Memory> {
  const server = await startBenchServer();
  const clients = new Clients();
  try {
    const taskIds = await tasksOfWriters(server);
    await write(server, taskIds, 20, WARM_UP_SECONDS);
    const before = await server.memory();
    await clients.tell({ do: 'open', port: server.port, token: server.token, count: WATCHERS, wiring });
    await write(server, taskIds, 20, WARM_UP_SECONDS);
    const after = await server.memory();
    return { rss: after.rss - before.rss, held: after.held - before.held };
  } finally {
    clients.stop();
    await server.stop();
  }
}

/** A task for each writer: notes on one task are written one after another. */
async function tasksOfWriters(server: BenchServer): Promise<string[]> {
  const setup = new HttpConnection(server.port);
  const taskIds: string[] = [];
  while (taskIds.length < WRITERS) taskIds.push(await newTask(setup, server, 'watched'));
  setup.close();
  return taskIds;
}

async function main(wiring: Wiring): Promise<void> {
  const server = await startBenchServer();
  const clients = new Clients();
  const verdicts: string[] = [];
  try {
    const taskIds = await tasksOfWriters(server);
    const print = (cells: readonly (string | number)[]) =>
      console.log(
        cells.map((cell, i) => String(cell).padStart([9, 10, 9, 8, 8, 14, 12, 11][i] ?? 0)).join(' '),
      );
    const show = (watchers: number | string, measured: Measured, without?: Measured) =>
      print([
        watchers,
        measured.written.toFixed(1),
        measured.events,
        measured.p50.toFixed(0),
        measured.p99.toFixed(0),
        (measured.events / Math.max(1, measured.messages)).toFixed(1),
        `${(measured.cpu * 100).toFixed(0)} %`,
        without
          ? (((measured.cpu - without.cpu) * measured.seconds * 1e6) / measured.messages).toFixed(0)
          : '',
      ]);

    console.log(`${WATCHERS} watchers, wired ${wiring}, ${SECONDS} s for each rate`);
    print(['watchers', 'writes/s', 'told', 'p50 ms', 'p99 ms', 'events/message', 'server CPU', 'µs/message']);
    const without = new Map<number, Measured>();
    for (const rate of RATES) {
      without.set(rate, await measure(server, clients, taskIds, rate));
      show(0, without.get(rate) as Measured);
    }

    await clients.tell({ do: 'open', port: server.port, token: server.token, count: WATCHERS, wiring });
    await write(server, taskIds, 20, WARM_UP_SECONDS);
    for (const rate of RATES) {
      const found = await measure(server, clients, taskIds, rate);
      show(WATCHERS, found, without.get(rate));
      const expected = found.written * SECONDS * WATCHERS;
      if (found.events < expected * 0.95) throw new Error(`told ${found.events} events of about ${expected}`);
      const goal = GOALS[rate];
      if (goal !== undefined) verdicts.push(verdict(`p99 at ${rate} writes/s`, found.p99, goal, 'ms'));
    }
    const p99s = { without: 0, beside: 0 };
    const alone = async () => {
      const found = await measure(server, clients, taskIds, 20);
      show(WATCHERS, found, without.get(20));
      p99s.without += found.p99;
    };
    let stuckBytes = 0;
    const besideStuck = async () => {
      const before = await server.memory();
      await clients.tell({ do: 'openStuck', port: server.port, token: server.token });
      const found = await measure(server, clients, taskIds, 20);
      stuckBytes = Math.max(stuckBytes, (await server.memory()).held - before.held);
      await clients.tell({ do: 'closeStuck' });
      show('+1 stuck', found, without.get(20));
      p99s.beside += found.p99;
    };
    for (let round = 0; round < STUCK_ROUNDS; round++) {
      for (const part of round % 2 === 0 ? [alone, besideStuck] : [besideStuck, alone]) await part();
    }
    const share = p99s.beside / p99s.without;
    verdicts.push(
      verdict('p99 beside one that never reads', share, GOAL_STUCK_SHARE, 'times that without, on average'),
    );
    verdicts.push(verdict('memory for one that never reads', stuckBytes / MIB, GOAL_STUCK_MIB, 'MiB'));
    for (const line of verdicts) console.log(line);
  } finally {
    clients.stop();
    await server.stop();
  }
}

const kib = (bytes: number) => (bytes / WATCHERS / 1024).toFixed(1);

const wiring = process.argv[2] ?? 'own';
if (wiring !== 'own' && wiring !== 'http2' && wiring !== 'shared') {
  throw new Error(`"${wiring}" is no wiring: own, http2 or shared`);
}
await main(wiring);
const perWatcher = await memoryOfWatchers(wiring);
console.log(
  `Server memory for each watcher: ${kib(perWatcher.held)} KiB held, ${kib(perWatcher.rss)} KiB from the system.`,
);
console.log(verdict('memory of a watcher', perWatcher.rss / WATCHERS / 1024, GOAL_KIB, 'KiB'));
