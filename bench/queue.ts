import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { type Board, startBoard } from './load/boards.js';
import { Rounds, type Spread } from './load/spread.js';

/**
 * Listing and picking ready tasks on boards of a thousand and of a million tasks, with every kind of filter; why a
 * queue is empty; and the completion of a task that many wait for. The boards are asked in turn in one run:
 * machines are noisy, so only the ratios mean something.
 *
 * Run: npm run bench:queue [-- --tasks 1000,100000 --rounds 5]
 */

const { values: options } = parseArgs({
  options: {
    /** How large the boards are, the smallest first. */
    tasks: { type: 'string', default: '1000,100000,1000000' },
    rounds: { type: 'string', default: '10' },
  },
});
const SIZES = options.tasks.split(',').map(Number);
const ROUNDS = Number(options.rounds);
const CALLS = 50;
/** The goal: the largest board's times against the smallest's. */
const LARGEST_RATIO = 1.5;
const DEPENDENTS = 1_000;
const COMPLETIONS = 20;
/** Not counted: each connection of the server's pool plans the statement for the first time. */
const PLANNING_COMPLETIONS = 12;
const COMPLETION_GOAL_MS = 100;

interface Filter {
  readonly planId?: string;
  readonly labels?: readonly string[];
  readonly assignee?: string;
}

/** By the share of all tasks that match; see load/fill.ts. */
const ONE_THING: Record<string, Filter> = {
  'no filter': {},
  'label of 1/3': { labels: ['frequent'] },
  'label of 1/3, all last': { labels: ['late'] },
  'label of 1/1000': { labels: ['medium'] },
  'label of 3 tasks': { labels: ['rare'] },
  'plan of 1/20': { planId: 'plan-2' },
  'assignee of 1/50': { assignee: 'ada' },
};
/** More is looked at on a large board than a small one has, up to a bound: no goal. */
const SEVERAL_THINGS: Record<string, Filter> = {
  'two labels': { labels: ['frequent', 'late'] },
  'label and plan': { planId: 'plan-2', labels: ['frequent'] },
  'plan and assignee': { planId: 'plan-3', assignee: 'ada' },
};

/** One call, timed, and what has to be put back after it. */
type Step = (board: Board, filter: Filter) => Promise<number>;

const timed = async (call: () => Promise<unknown>) => {
  const started = performance.now();
  await call();
  return performance.now() - started;
};

type NextAnswer = { grant?: { lease: { id: string; fencingToken: string } } };

const next = (board: Board, filter: Filter) =>
  board.call<NextAnswer>('holdfast.v1.LeaseService/AcquireNextTask', { executionId: 'bench', ...filter });

const list: Step = (board, filter) =>
  timed(() => board.call('holdfast.v1.TaskService/ListReadyTasks', { pageSize: 10, ...filter }));

const acquire: Step = async (board, filter) => {
  let answer: NextAnswer = {};
  const took = await timed(async () => {
    answer = await next(board, filter);
  });
  if (!answer.grant) throw new Error(`nothing was ready for ${JSON.stringify(filter)}`);
  const { id, fencingToken } = answer.grant.lease;
  await board.call('holdfast.v1.LeaseService/ReleaseLease', { leaseId: id, fencingToken });
  return took;
};

const findNothing: Step = (board, filter) => timed(() => next(board, filter));

interface Row {
  readonly name: string;
  readonly step: Step;
  readonly filter: Filter;
  readonly hasGoal: boolean;
}

const rows = (rpc: string, step: Step, filters: Record<string, Filter>, hasGoal: boolean): Row[] =>
  Object.entries(filters).map(([name, filter]) => ({ name: `${rpc}, ${name}`, step, filter, hasGoal }));

const ROWS: readonly Row[] = [
  ...rows('ListReadyTasks(10)', list, ONE_THING, true),
  ...rows('AcquireNextTask', acquire, ONE_THING, true),
  ...rows('ListReadyTasks(10)', list, SEVERAL_THINGS, false),
  ...rows('AcquireNextTask', acquire, SEVERAL_THINGS, false),
  ...rows('AcquireNextTask', findNothing, { 'no such label': { labels: ['unknown'] } }, false),
];

async function main(): Promise<void> {
  const boards: Board[] = [];
  try {
    for (const tasks of SIZES) boards.push(await startBoard(tasks));
    const worst = await compareSizes(boards);
    const plain = await completeWithDependents(boards[0] as Board, '{}');
    const labelled = await completeWithDependents(boards[0] as Board, '{hub}');
    const met = (ok: boolean) => (ok ? 'reached' : 'missed');
    console.log(
      `Goal: the largest board at most ${LARGEST_RATIO} times as slow as the smallest, p50 and p99: ` +
        `${met(worst <= LARGEST_RATIO)} (${worst.toFixed(2)}).`,
    );
    console.log(
      `Goal: a task that ${DEPENDENTS} wait for is completed in less than ${COMPLETION_GOAL_MS} ms: ` +
        `${met(plain.p50 < COMPLETION_GOAL_MS)} (p50 ${plain.p50.toFixed(1)} ms; without a goal, when each has a label: ${labelled.p50.toFixed(1)} ms).`,
    );
    if (worst > LARGEST_RATIO || plain.p50 >= COMPLETION_GOAL_MS) process.exitCode = 1;
  } finally {
    await Promise.all(boards.map((board) => board.stop()));
  }
}

/** Prints the table. @returns the worst ratio of those with a goal */
async function compareSizes(boards: readonly Board[]): Promise<number> {
  const widths = [44, ...boards.map(() => 16), 12];
  const print = (cells: readonly string[]) =>
    console.log(
      cells
        .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
        .join('  '),
    );
  print(['p50 / p99 in ms', ...boards.map(({ tasks }) => `${tasks} tasks`), 'ratio']);
  let worst = 0;
  for (const { name, step, filter, hasGoal } of ROWS) {
    const spreads = await inTurn(boards, (board) => step(board, filter));
    const [smallest, largest] = [spreads[0] as Spread, spreads.at(-1) as Spread];
    const ratios = [largest.p50 / smallest.p50, largest.p99 / smallest.p99];
    if (hasGoal) worst = Math.max(worst, ...ratios);
    print([
      name,
      ...spreads.map(({ p50, p99 }) => `${p50.toFixed(2)} / ${p99.toFixed(2)}`),
      `${ratios.map((ratio) => ratio.toFixed(2)).join(' / ')}${hasGoal ? ' ' : '*'}`,
    ]);
  }
  console.log('* without a goal');
  return worst;
}

/** Call by call, so that noise meets all boards alike. */
async function inTurn(boards: readonly Board[], step: (board: Board) => Promise<number>): Promise<Spread[]> {
  const rounds = boards.map(() => new Rounds());
  // Not counted: statements are planned for the first time.
  for (const board of boards) await step(board);
  for (let round = 0; round < ROUNDS; round++) {
    for (const one of rounds) one.begin();
    for (let n = 0; n < CALLS; n++) {
      for (const [i, board] of boards.entries()) rounds[i]?.add(await step(board));
    }
  }
  return rounds.map((one) => one.spread());
}

/** Each time another task with dependents of its own, which carry these labels. */
async function completeWithDependents(board: Board, labels: string): Promise<Spread> {
  const hubs: string[] = [];
  for (let n = 0; n < PLANNING_COMPLETIONS + COMPLETIONS; n++)
    hubs.push(await hubWithDependents(board, labels));
  await board.sql`VACUUM ANALYZE`;
  const rounds = new Rounds();
  rounds.begin();
  for (const [n, hub] of hubs.entries()) {
    // Waits until the events of the completion before have their positions.
    await board.call('holdfast.v1.HistoryService/ListHistory', { pageSize: 1 });
    const took = await timed(() => board.call('holdfast.v1.TaskService/CompleteTask', { taskId: hub }));
    if (n >= PLANNING_COMPLETIONS) rounds.add(took);
  }
  return rounds.spread();
}

/** @returns the id of a new task that new ones wait for */
async function hubWithDependents(board: Board, labels: string): Promise<string> {
  const hub = randomUUID();
  const task = `INSERT INTO task (project, id, title, body, labels, created_at, created_by, updated_at)`;
  const state = `INSERT INTO task_state (project, task_id, status, priority, fencing_token, unmet, blockers, dependents)`;
  await board.sql.unsafe(`
    ${task} SELECT 'default', '${hub}' || n, 'bench', '', '${labels}', 1, 'bench', 1 FROM generate_series(0, ${DEPENDENTS}) n;
    ${state} SELECT 'default', '${hub}' || n, 1, 0, 0, (n > 0)::int, (n > 0)::int, CASE n WHEN 0 THEN ${DEPENDENTS} ELSE 0 END
      FROM generate_series(0, ${DEPENDENTS}) n;
    INSERT INTO dependency (project, task_id, blocker_id, accept_dropped)
      SELECT 'default', '${hub}' || n, '${hub}0', false FROM generate_series(1, ${DEPENDENTS}) n;
    INSERT INTO queue (project, task_id, standing, priority, plan_order, seq, labels)
      SELECT project, id, CASE id WHEN '${hub}0' THEN 1 ELSE 2 END, 0, 0, seq, labels FROM task WHERE id LIKE '${hub}%'`);
  return `${hub}0`;
}

await main();
