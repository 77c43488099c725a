import { once } from 'node:events';
import { connect, constants } from 'node:http2';
import { queryObjects } from 'node:v8';
import { PrincipalKind } from '@holdfast/proto/history';
import { Role } from '@holdfast/proto/project';
import { describe, expect, it, test } from 'vitest';
import { type Board, startBoard } from '../rpc/board.js';
import { readMetrics } from '../support/metrics.js';
import { RawWatch, WIRES, type Wire } from './raw-watch.js';
import { endingOf } from './watching.js';

const nameOf = ({ type, http }: Wire) => `${type} over HTTP/${http}`;

/** The numbers of `GET /metrics` that tell of open and ended watches. */
async function metrics(board: Board): Promise<Record<string, number>> {
  const own = /^holdfast_(?:rpc_total\{rpc="LeaseService\/WatchLeases",code="(\w+)"\}|(watches))$/;
  const all = Object.entries(await readMetrics(board.service.url));
  return Object.fromEntries(
    all.flatMap(([series, value]) => {
      const [, code, watches] = own.exec(series) ?? [];
      const name = code ?? watches;
      return name === undefined ? [] : [[name, value]];
    }),
  );
}

/** A watch on each wire, each told of a task. */
async function onEachWire(board: Board, token: string, headers = {}): Promise<RawWatch[]> {
  const watches = WIRES.map((wire) => new RawWatch(board.service.url, token, wire, headers));
  await expect.poll(() => watches.every(({ messages }) => messages[0]?.case === 'synced')).toBe(true);
  await board.task('told to all');
  const told = ({ messages }: RawWatch) =>
    messages.flatMap(({ case: kind, value }) => (kind === 'events' ? value.events : []));
  await expect.poll(() => watches.map((watch) => told(watch).length)).toEqual(WIRES.map(() => 2));
  for (const watch of watches)
    expect(told(watch)[0]?.payload).toMatchObject({ case: 'taskCreated', value: { title: 'told to all' } });
  return watches;
}

/** A token to be revoked. */
const made = (board: Board) =>
  board.admin.projects.createToken({ principal: 'brief', kind: PrincipalKind.PERSON, role: Role.VIEWER });

/** In which of its fields each protocol tells an error with details. */
function fieldsOf({ type }: Wire, details: boolean): string[] {
  if (type.startsWith('application/connect')) return ['error'];
  return ['grpc-message', 'grpc-status', ...(details ? ['grpc-status-details-bin'] : [])];
}

describe('on each wire, a watch is ended', () => {
  const ends = [
    {
      by: 'a revoked token',
      code: 'Unauthenticated',
      text: 'The token of this stream was revoked or has expired.',
      headers: {},
      provoke: (board: Board, tokenId: string) => board.admin.projects.revokeToken({ tokenId }),
    },
    {
      by: 'its deadline',
      code: 'DeadlineExceeded',
      text: 'the operation timed out',
      headers: { 'connect-timeout-ms': '5000', 'grpc-timeout': '5S' },
      provoke: async () => {},
    },
    {
      by: 'the end of the server',
      code: 'Unavailable',
      text: 'the server is shutting down: try again',
      headers: {},
      provoke: (board: Board) => board.service.stop(),
    },
  ] as const;

  it.each(ends)('by $by', async ({ code, text, headers, provoke }) => {
    const board = await startBoard({ watch: { tokenMs: 100 } });
    const { token, tokenId } = await made(board);
    const watches = await onEachWire(board, token, headers);
    expect((await metrics(board)).watches).toBe(WIRES.length);
    await provoke(board, tokenId);
    await Promise.all(watches.map(({ ended }) => ended));
    for (const { wire, end, token: last } of watches) {
      const resumeToken = code === 'DeadlineExceeded' ? undefined : last;
      expect(end?.fields.toSorted(), nameOf(wire)).toEqual(fieldsOf(wire, resumeToken !== undefined));
      expect(endingOf(end?.error), nameOf(wire)).toEqual({ code, text, resumeToken, gap: undefined });
    }
    if (code === 'Unavailable') return;
    expect(await metrics(board)).toMatchObject({ watches: 0, [code]: WIRES.length });
  });
});

test('a caller that leaves, on whatever wire, leaves nothing open and its place to others', async () => {
  const board = await startBoard({ quotas: { watches: WIRES.length } });
  for (const watch of await onEachWire(board, board.viewer.token)) watch.leave();
  await expect.poll(() => metrics(board)).toMatchObject({ watches: 0, Canceled: WIRES.length });
  // As many again; each in its place.
  for (const watch of await onEachWire(board, board.viewer.token)) watch.leave();
  await expect.poll(() => metrics(board)).toMatchObject({ watches: 0, Canceled: 2 * WIRES.length });
});

test.each(['application/connect+proto', 'application/grpc+proto', 'application/grpc-web+proto'])(
  'a reader that does not even take the end is cut: %s',
  async (type) => {
    const board = await startBoard({ watch: { tokenMs: 100 }, limits: { stalledMs: 300 } });
    const { token, tokenId } = await made(board);
    const session = connect(board.service.url, { settings: { initialWindowSize: 0 } });
    const stream = session.request({
      ':method': 'POST',
      ':path': '/holdfast.v1.LeaseService/WatchLeases',
      'content-type': type,
      authorization: `Bearer ${token}`,
    });
    stream.end(Buffer.alloc(5));
    await once(stream, 'response');
    const cut = once(stream, 'close').catch((error) => error);
    await board.admin.projects.revokeToken({ tokenId });
    await cut;
    expect(stream.rstCode).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    session.destroy();
  },
);

test('an open watch keeps nothing of the pipeline, on whatever wire', async () => {
  const board = await startBoard();
  // Requests and responses of the pipeline have them, nothing else in this process.
  const headers = () => queryObjects(Headers, { format: 'count' }) as unknown as number;
  const before = headers();
  const watches = await onEachWire(board, board.viewer.token);
  expect(headers() - before).toBeLessThan(1);
  for (const watch of watches) watch.leave();
});
