import { Code, ConnectError } from '@connectrpc/connect';
import { RetryAdviceSchema } from '@holdfast/proto/guard';
import { describe, expect, it, test } from 'vitest';
import { OpenCalls, RequestBuckets } from '../../src/rpc/quotas.js';
import { Watching } from '../watch/watching.js';
import { startBoard } from './board.js';

describe('a bucket of requests', () => {
  it('holds what ten seconds bring, and fills steadily', () => {
    const buckets = new RequestBuckets(2);
    const take = (now: number) => buckets.take('a', now);
    expect(Array.from({ length: 20 }, () => take(1_000))).toEqual(Array(20).fill(0));
    expect(take(1_000)).toBe(500);
    expect(take(1_200)).toBe(300);
    expect([take(1_500), take(1_500)]).toEqual([0, 500]);
    // Refused requests cost nothing, and no more is saved up than it holds.
    expect(Array.from({ length: 21 }, () => take(1e6)).filter((wait) => wait === 0)).toHaveLength(20);
  });

  it('is another one for each token', () => {
    const buckets = new RequestBuckets(0.1);
    expect([buckets.take('a', 0), buckets.take('a', 0), buckets.take('b', 0)]).toEqual([0, 10_000, 0]);
  });

  it('is kept while it matters, however many tokens come by', () => {
    const buckets = new RequestBuckets(0.1);
    buckets.take('a', 0);
    for (let i = 0; i < 3_000; i++) buckets.take(`token ${i}`, i);
    expect(buckets.take('a', 3_000)).toBe(7_000);
  });
});

test('a place is free again once, however often it is left', () => {
  const open = new OpenCalls(2);
  const [first, second] = [open.enter('a'), open.enter('a')];
  expect([open.enter('a'), open.enter('b')]).toEqual([undefined, expect.any(Function)]);
  first?.();
  first?.();
  expect([open.enter('a'), open.enter('a')]).toEqual([expect.any(Function), undefined]);
  second?.();
  expect(open.enter('a')).toBeDefined();
});

/** How a call was refused, and when it may be repeated. */
async function refusalOf(call: Promise<unknown>) {
  const error = ConnectError.from(
    await call.then(
      () => expect.fail('the call was not refused'),
      (thrown: unknown) => thrown,
    ),
  );
  const [advice] = error.findDetails(RetryAdviceSchema);
  const { seconds = -1n, nanos = 0 } = advice?.retryAfter ?? {};
  return { code: Code[error.code], text: error.rawMessage, afterMs: Number(seconds) * 1_000 + nanos / 1e6 };
}

test('a token that asks too much is told when to come back, and others are served', async () => {
  const board = await startBoard({ quotas: { requestsPerSecond: 1 } });
  const calls = Array.from({ length: 30 }, () => board.agent.projects.whoAmI({}));
  const results = await Promise.allSettled(calls);
  expect(results.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThanOrEqual(10);
  const told = await refusalOf(calls.at(-1) as Promise<unknown>);
  expect(told).toMatchObject({
    code: 'ResourceExhausted',
    text: expect.stringContaining('more than 1 requests a second'),
  });
  expect(told.afterMs).toBeGreaterThan(0);
  expect(told.afterMs).toBeLessThanOrEqual(1_200);
  await board.rival.projects.whoAmI({});
});

test('a token has so many streams open, and another one when one has ended', async () => {
  const board = await startBoard({ quotas: { watches: 2 } });
  const first = await new Watching(board.agent).begun();
  const second = await new Watching(board.agent).begun();
  const third = await new Watching(board.agent).ended();
  expect(third).toMatchObject({ code: 'ResourceExhausted', text: expect.stringContaining('2 streams open') });
  // Another token, and calls of the same one, are served.
  const other = await new Watching(board.rival).begun();
  await board.agent.projects.whoAmI({});
  await first.stop();
  await expect
    .poll(async () => {
      const again = new Watching(board.agent);
      const began = await again.begun().catch(() => undefined);
      await again.stop();
      return began !== undefined;
    })
    .toBe(true);
  await Promise.all([second.stop(), other.stop()]);
});

test('so many calls of a token wait for a task, and the others are refused at once', async () => {
  const board = await startBoard({ quotas: { waiters: 1 } });
  const wait = { seconds: 50n, nanos: 0 };
  const next = (execution: string, who = board.agent, signal?: AbortSignal) =>
    who.leases.acquireNextTask({ executionId: execution, wait }, signal ? { signal } : {});
  const gone = new AbortController();
  const given = next('run-1', board.agent, gone.signal).catch((error: unknown) => error);
  await expect
    .poll(async () => (await refusalOf(next('run-2'))).text)
    .toContain('1 calls waiting for a task');
  // Without waiting it may ask.
  expect((await board.agent.leases.acquireNextTask({ executionId: 'run-2' })).outcome.case).toBe('refusal');
  const rival = next('run-3', board.rival);
  // A caller that went away leaves its place.
  gone.abort();
  await given;
  const again = next('run-4');
  await board.task();
  await board.task();
  const answers = await Promise.all([rival, again]);
  expect(answers.map(({ outcome }) => outcome.case)).toEqual(['grant', 'grant']);
});
