import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { startBoard } from '../rpc/board.js';
import { readMetrics } from '../support/metrics.js';
import { LONG, Paused, writeNotes } from './paused.js';
import { endingOf, Watching } from './watching.js';

const rising = (positions: readonly number[]) => positions.map((_, i) => (positions[0] ?? 0) + i);

describe('a reader that pauses', () => {
  it('is caught up from the table, without gap and repetition, and delays nobody', async () => {
    const board = await startBoard({ watch: { kept: { events: 5, bytes: 1_000 } } });
    const slow = new Paused(board.service.client(board.viewer.token));
    const fast = await new Watching(board.viewer).begun();
    await slow.read();
    const last = await writeNotes(board, 30, LONG);
    await fast.until(({ positions }) => positions.at(-1) === last);
    expect(slow.positions).toEqual([]);
    while (slow.positions.at(-1) !== last) await slow.read();
    expect(slow.positions).toEqual(rising(slow.positions));
    expect(slow.positions).toEqual(fast.positions);
    await fast.stop();
  });

  it('for too long is ended RESOURCE_EXHAUSTED behind all that it was sent, and can go on there', async () => {
    const board = await startBoard({ watch: { stallMs: 300 } });
    const slow = new Paused(board.service.client(board.viewer.token));
    const fast = await new Watching(board.viewer).begun();
    await slow.read();
    const last = await writeNotes(board, 30, LONG);
    await sleep(1_000);
    let ending: ReturnType<typeof endingOf> | undefined;
    while (!ending) await slow.read().catch((error) => (ending = endingOf(error)));
    expect(ending).toMatchObject({ code: 'ResourceExhausted', resumeToken: slow.token });
    expect(slow.positions.length).toBeGreaterThan(0);
    expect(slow.positions.at(-1)).toBeLessThan(last);
    const resumed = new Watching(board.viewer, { resumeAfter: ending.resumeToken ?? '' });
    await resumed.until(({ positions }) => positions.at(-1) === last);
    expect([...slow.positions, ...resumed.positions]).toEqual(fast.positions);
    await Promise.all([fast.stop(), resumed.stop()]);
  });

  it('for ever is cut, and leaves nothing open', async () => {
    const board = await startBoard({ watch: { stallMs: 300 }, limits: { stalledMs: 600 } });
    const stuck = new Paused(board.service.client(board.viewer.token));
    const idle = await new Watching(board.viewer).begun();
    await stuck.read();
    await writeNotes(board, 30, LONG);
    const open = async () => (await readMetrics(board.service.url)).holdfast_watches;
    await expect.poll(open, { timeout: 5_000 }).toBe(1);
    let ending: ReturnType<typeof endingOf> | undefined;
    while (!ending) await stuck.read().catch((error) => (ending = endingOf(error)));
    expect(ending.text).toContain('ENHANCE_YOUR_CALM');
    // One that has nothing to read does not count as one that reads nothing.
    await sleep(900);
    await board.task();
    await idle.until(({ positions }) => positions.length >= 34);
    await idle.stop();
  });
});
