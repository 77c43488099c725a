import { create } from '@bufbuild/protobuf';
import { Code, ConnectError, createRouterTransport, type HandlerContext } from '@connectrpc/connect';
import {
  createHoldfast,
  InvalidRequest,
  type WatchConnection,
  type WatchNews,
  type WatchOptions,
  watch,
} from '@holdfast/client';
import { FieldViolationSchema } from '@holdfast/proto/guard';
import {
  LeaseService,
  WatchEndSchema,
  WatchGapReason,
  WatchGapSchema,
  type WatchLeasesRequest,
  type WatchLeasesResponse,
  WatchLeasesResponseSchema,
} from '@holdfast/proto/lease';
import { describe, expect, it } from 'vitest';
import { ManualClock, settle } from './manual-clock.js';

type Message = Parameters<typeof create<typeof WatchLeasesResponseSchema>>[1];
type Stream = (request: WatchLeasesRequest, context: HandlerContext) => AsyncGenerator<WatchLeasesResponse>;

/** A stream that sends `messages`, then ends with `end`, or stays open. */
function stream(messages: Message[], end?: ConnectError | 'cut'): Stream {
  return async function* (_request, { signal }) {
    for (const message of messages) yield create(WatchLeasesResponseSchema, message);
    if (end === 'cut') return;
    if (end) throw end;
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };
}

const snapshot = (...taskIds: string[]): Message => ({
  message: { case: 'snapshot', value: { leases: taskIds.map((taskId) => ({ taskId })) } },
});
const synced = (resumeToken: string): Message => ({ message: { case: 'synced', value: { resumeToken } } });
const events = (resumeToken: string, ...positions: number[]): Message => ({
  message: {
    case: 'events',
    value: { resumeToken, events: positions.map((position) => ({ position: BigInt(position) })) },
  },
});
const ended = (resumeToken: string) =>
  new ConnectError('the server stops', Code.Unavailable, undefined, [
    { desc: WatchEndSchema, value: { resumeToken } },
  ]);
const gap = (reason: WatchGapReason) =>
  new ConnectError('a gap', Code.OutOfRange, undefined, [{ desc: WatchGapSchema, value: { reason } }]);

/** Watches a server that answers with one of `streams` after another. */
class Watched {
  readonly asked: WatchLeasesRequest[] = [];
  readonly news: WatchNews[] = [];
  readonly connections: WatchConnection[] = [];
  readonly clock = new ManualClock();
  readonly abort = new AbortController();
  error: unknown;
  readonly finished: Promise<void>;

  constructor(streams: Stream[], options: WatchOptions = {}) {
    const transport = createRouterTransport(({ service }) => {
      service(LeaseService, {
        watchLeases: (request, context) => {
          const next = streams[this.asked.length];
          this.asked.push(request);
          return (next ?? stream([]))(request, context);
        },
      });
    });
    const holdfast = createHoldfast({ url: '', token: '', transport });
    this.finished = this.#read(
      watch(holdfast, {
        signal: this.abort.signal,
        clock: this.clock,
        random: () => 1,
        onConnection: (connection) => this.connections.push(connection),
        ...options,
      }),
    );
  }

  async #read(news: AsyncIterable<WatchNews>): Promise<void> {
    try {
      for await (const one of news) this.news.push(one);
    } catch (error) {
      this.error = error;
    }
  }

  get told(): unknown[] {
    return this.news.map((one) => (one.kind === 'event' ? Number(one.event.position) : one.kind));
  }
}

describe('watch', () => {
  it('tells one snapshot, however many messages it came in, and then the events', async () => {
    const watched = new Watched([
      stream([snapshot('a', 'b'), snapshot('c'), synced('t0'), events('t2', 1, 2)]),
    ]);
    await settle();
    expect(watched.news[0]).toMatchObject({ kind: 'snapshot', resumeToken: 't0' });
    expect(watched.news[0]).toHaveProperty('leases.length', 3);
    expect(watched.told).toEqual(['snapshot', 1, 2, 'checkpoint']);
    expect(watched.asked[0]).toMatchObject({ resumeAfter: '' });
  });

  it('goes on where it stopped when the connection is cut, and tells nothing twice', async () => {
    const watched = new Watched([
      stream([synced('t0'), events('t2', 1, 2)], 'cut'),
      stream([events('t3', 2, 3)], ended('t4')),
      stream([events('t5', 5)]),
    ]);
    await settle();
    await watched.clock.advance(250);
    await watched.clock.advance(250);
    expect(watched.asked.map(({ resumeAfter }) => resumeAfter)).toEqual(['', 't2', 't4']);
    expect(watched.told).toEqual(['snapshot', 1, 2, 'checkpoint', 3, 'checkpoint', 5, 'checkpoint']);
  });

  it('drops half a snapshot', async () => {
    const watched = new Watched([stream([snapshot('a')], 'cut'), stream([snapshot('b'), synced('t0')])]);
    await settle();
    await watched.clock.advance(250);
    expect(watched.news).toHaveLength(1);
    expect(watched.news[0]).toMatchObject({ leases: [{ taskId: 'b' }] });
  });

  it.each([
    [WatchGapReason.COMPACTED, 'COMPACTED'],
    [WatchGapReason.RESET, 'RESET'],
  ])('tells of a gap and starts anew: %s', async (reason, named) => {
    const watched = new Watched([stream([], gap(reason)), stream([synced('t9'), events('t1', 1)])], {
      resumeAfter: 'old',
    });
    await settle();
    await watched.clock.advance(250);
    expect(watched.asked.map(({ resumeAfter }) => resumeAfter)).toEqual(['old', '']);
    expect(watched.news[0]).toEqual({ kind: 'gap', reason: named });
    expect(watched.told).toEqual(['gap', 'snapshot', 1, 'checkpoint']);
  });

  it('gives up only when trying again cannot help', async () => {
    const refused = new Watched([stream([], new ConnectError('no', Code.Unauthenticated))]);
    await refused.finished;
    expect(refused.error).toMatchObject({ code: Code.Unauthenticated });

    const value = { field: 'kinds[0]', description: 'must name a kind' };
    const wrong = new Watched([
      stream(
        [],
        new ConnectError('kinds', Code.InvalidArgument, undefined, [{ desc: FieldViolationSchema, value }]),
      ),
    ]);
    await wrong.finished;
    expect(wrong.error).toBeInstanceOf(InvalidRequest);
  });

  it('waits longer from failure to failure, up to 10 s, and anew after a success', async () => {
    const down = stream([], new ConnectError('down', Code.Unavailable));
    const watched = new Watched([...Array(8).fill(down), stream([synced('t0')], 'cut'), down]);
    await settle();
    for (let i = 0; i < 9; i++) await watched.clock.advance(10_000);
    const pauses = watched.connections.flatMap((c) => (c.state === 'waiting' ? [[c.attempt, c.inMs]] : []));
    expect(pauses.slice(0, 10)).toEqual([
      [1, 250],
      [2, 500],
      [3, 1_000],
      [4, 2_000],
      [5, 4_000],
      [6, 8_000],
      [7, 10_000],
      [8, 10_000],
      [1, 250],
      [2, 500],
    ]);
  });

  it('takes a connection for dead that is silent for longer than three checkpoints', async () => {
    const watched = new Watched([stream([synced('t0')]), stream([events('t1', 1)])]);
    await settle();
    await watched.clock.advance(44_999);
    expect(watched.asked).toHaveLength(1);
    await watched.clock.advance(1);
    await watched.clock.advance(250);
    expect(watched.asked.map(({ resumeAfter }) => resumeAfter)).toEqual(['', 't0']);
    expect(watched.told).toEqual(['snapshot', 1, 'checkpoint']);
  });

  it('ends without an error when it is called off, and leaves no timer', async () => {
    const watched = new Watched([stream([synced('t0')])]);
    await settle();
    watched.abort.abort();
    await watched.finished;
    expect(watched.error).toBeUndefined();
    expect(watched.clock.timers).toBe(0);

    const waiting = new Watched([stream([], 'cut')]);
    await settle();
    waiting.abort.abort();
    await waiting.finished;
    expect([waiting.error, waiting.clock.timers]).toEqual([undefined, 0]);
  });

  it('sends its filter with every stream', async () => {
    const watched = new Watched([stream([], 'cut'), stream([])], {
      project: 'p',
      taskIds: ['a'],
      principal: 'ada',
    });
    await settle();
    await watched.clock.advance(250);
    expect(watched.asked).toHaveLength(2);
    for (const request of watched.asked) {
      expect(request).toMatchObject({ project: 'p', taskIds: ['a'], principal: 'ada' });
    }
  });
});
