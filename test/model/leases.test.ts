import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../src/store/database.js';
import { createStore } from '../../src/store/store.js';
import { sweep } from '../../src/store/sweep.js';
import { type MovableClock, stopClock } from '../support/clock.js';
import { DEFAULT_SETTINGS, startTestService, type TestService } from '../support/service.js';
import { commands } from './commands.js';
import { expectHistory } from './history.js';
import { setUp, tearDown } from './system.js';

/**
 * Random commands by several principals, run against the service and against a model of the contract: every
 * answer must agree, and in the end the whole history. `HOLDFAST_TEST_MODEL_RUNS` makes it longer,
 * `HOLDFAST_TEST_MODEL_SEED` repeats one that failed.
 */
const RUNS = Number(process.env.HOLDFAST_TEST_MODEL_RUNS ?? 15);
const SEED = process.env.HOLDFAST_TEST_MODEL_SEED;

const SECOND = 1_000_000;
const someRules = fc.record({
  mode: fc.constantFrom('OFF' as const, 'WARN' as const, 'ENFORCE' as const),
  defaultTtl: fc.constant(10 * SECOND),
  maxTtl: fc.constant(30 * SECOND),
  maxAge: fc.constantFrom(0, 25 * SECOND, 60 * SECOND),
  maxExpiries: fc.constantFrom(0, 2, 3),
});

let service: TestService;
let clock: MovableClock;
const own = { close: async () => {} };
let sweepOnce: () => Promise<void>;

beforeAll(async () => {
  service = await startTestService({ withFeed: false });
  clock = await stopClock(service.databaseUrl);
  const database = openDatabase({ url: service.databaseUrl, poolSize: 2 });
  const store = createStore(database, DEFAULT_SETTINGS, {
    eventsWritten() {},
    tasksReady() {},
    deadlineSet() {},
  });
  sweepOnce = async () => {
    await sweep(store, 1_000);
  };
  own.close = () => database.close();
});

afterAll(async () => {
  await own.close();
  await clock.close();
});

test('the service does what the contract says, whatever comes in whatever order', {
  timeout: 3_600_000,
}, async () => {
  const seed = SEED === undefined ? {} : { seed: Number(SEED) };
  let steps = 0;
  await fc.assert(
    fc.asyncProperty(
      someRules,
      fc.noBias(fc.commands(commands, { maxCommands: 120, size: 'max' })),
      async (rules, cmds) => {
        const { model, real } = await setUp(service, clock, sweepOnce, rules);
        try {
          await fc.asyncModelRun(() => ({ model, real }), cmds);
          await expectHistory(service, model, real);
          steps += [...cmds].length;
        } finally {
          tearDown(real);
        }
      },
    ),
    { numRuns: RUNS, ...seed },
  );
  expect(steps).toBeGreaterThan(RUNS);
});
