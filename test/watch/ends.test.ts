import { PrincipalKind } from '@holdfast/proto/history';
import { Role } from '@holdfast/proto/project';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { placeIn } from '../../src/rpc/resume-token.js';
import { type Board, startBoard } from '../rpc/board.js';
import { readMetrics } from '../support/metrics.js';
import { createTestDatabase } from '../support/postgres.js';
import { newServerFolder, ServerProcess } from '../support/server-process.js';
import { Watching } from './watching.js';

let board: Board;
beforeAll(async () => {
  board = await startBoard({ watch: { tokenMs: 100 } });
});

/** A number of `GET /metrics`. */
const metric = async (url: string, name: string) => Number((await readMetrics(url))[name]);

describe('a watch ends soon after its token', () => {
  const made = async (expiresIn?: { seconds: bigint; nanos: number }) => {
    const kind = PrincipalKind.PERSON;
    const token = await board.admin.projects.createToken({
      principal: 'brief',
      kind,
      role: Role.VIEWER,
      ...(expiresIn && { expiresIn }),
    });
    return { ...token, watching: await new Watching(board.service.client(token.token)).begun() };
  };

  it.each([
    ['was revoked', undefined],
    ['expired', { seconds: 1n, nanos: 0 }],
  ])('%s', async (_, expiresIn) => {
    const others = await new Watching(board.viewer).begun();
    const { watching, tokenId } = await made(expiresIn);
    if (!expiresIn) await board.admin.projects.revokeToken({ tokenId });
    const { code, text, resumeToken } = await watching.ended();
    expect([code, text]).toEqual(['Unauthenticated', 'The token of this stream was revoked or has expired.']);
    // Somebody with a valid token may go on there.
    expect(placeIn(resumeToken ?? '', 'default').position).toBeGreaterThan(0n);
    await board.task();
    await others.until(({ kinds }) => kinds.includes('TASK_CREATED'));
    await others.stop();
  });

  it('and counts as a use of it', async () => {
    const { watching, tokenId } = await made();
    await expect
      .poll(async () => {
        const { tokens } = await board.admin.projects.listTokens({});
        return tokens.find(({ id }) => id === tokenId)?.lastUsedAt;
      })
      .toBeDefined();
    await watching.stop();
  });
});

test('a client that goes away, in whatever way, leaves nothing open', async () => {
  const { url } = board.service;
  const before = await metric(url, 'holdfast_watches');
  const clients = Array.from({ length: 20 }, () => board.service.client(board.viewer.token));
  const watches = await Promise.all(clients.map((client) => new Watching(client).begun()));
  expect(await metric(url, 'holdfast_watches')).toBe(before + 20);
  for (const [i, client] of clients.entries()) {
    if (i % 2 === 0) client.close();
    else await watches[i]?.stop();
  }
  await expect.poll(() => metric(url, 'holdfast_watches'), { timeout: 5_000 }).toBe(before);
});

test('a watch may be given a deadline, and ends with it', async () => {
  const abort = AbortSignal.timeout(10_000);
  const stream = board.viewer.leases.watchLeases({}, { timeoutMs: 200, signal: abort });
  const reading = (async () => {
    for await (const _ of stream);
  })();
  await expect(reading).rejects.toThrow(/deadline|timed out/);
});

test('metrics tell what watches were given, how late, and how far the sequencer is', async () => {
  const { url } = board.service;
  const watching = await new Watching(board.viewer).begun();
  const before = await metric(url, 'holdfast_watch_events_total');
  await board.task();
  await watching.until(({ kinds }) => kinds.includes('TASK_READY'));
  expect(await metric(url, 'holdfast_watch_events_total')).toBeGreaterThanOrEqual(before + 2);
  const late = await metric(url, 'holdfast_watch_lag_seconds_sum');
  expect(late).toBeGreaterThan(0);
  expect(late / (await metric(url, 'holdfast_watch_lag_seconds_count'))).toBeLessThan(5);
  expect(await metric(url, 'holdfast_sequencer_lag_seconds')).toBeLessThan(5);
  await watching.stop();
});

test('SIGTERM ends fifty open watches UNAVAILABLE, each with the token that goes on elsewhere', async () => {
  const { url: databaseUrl } = await createTestDatabase();
  const dataDir = newServerFolder();
  const server = await ServerProcess.start({ dataDir, databaseUrl });
  const client = server.client(server.ownerToken);
  const writer = server.client(server.ownerToken);
  const watches = await Promise.all(
    Array.from({ length: 50 }, (_, i) =>
      new Watching(i % 5 === 0 ? server.client(server.ownerToken) : client).begun(),
    ),
  );
  await writer.tasks.createTask({ title: 'told to all' });
  await Promise.all(watches.map((watching) => watching.until(({ kinds }) => kinds.includes('TASK_READY'))));
  const began = performance.now();
  const gone = server.end('SIGTERM');
  const endings = await Promise.all(watches.map((watching) => watching.ended()));
  expect(performance.now() - began).toBeLessThan(5_000);
  expect(new Set(endings.map(({ code }) => code))).toEqual(new Set(['Unavailable']));
  expect(new Set(endings.map(({ resumeToken }) => resumeToken))).toEqual(new Set([watches[0]?.token]));
  await gone;
  const next = await ServerProcess.start({ dataDir, databaseUrl });
  const nextClient = next.client(next.ownerToken);
  await nextClient.tasks.createTask({ title: 'after the restart' });
  const resumed = new Watching(nextClient, { resumeAfter: endings[0]?.resumeToken ?? '' });
  await resumed.until(({ kinds }) => kinds.length === 2);
  expect(resumed.positions[0]).toBe((watches[0]?.positions.at(-1) ?? 0) + 1);
  await resumed.stop();
  await next.end('SIGTERM');
}, 60_000);
