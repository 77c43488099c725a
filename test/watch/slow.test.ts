import { setTimeout as sleep } from 'node:timers/promises';
import type { Holdfast } from '@holdfast/client';
import type { WatchLeasesResponse } from '@holdfast/proto/lease';
import { describe, expect, it } from 'vitest';
import { type Board, startBoard } from '../rpc/board.js';
import { endingOf, Watching } from './watching.js';

/** A note that fills what the transport buffers when a few of them come. */
const LONG = 'x'.repeat(60_000);

/** A stream that is read when the test says so. */
class Paused {
  readonly positions: number[] = [];
  token = '';
  readonly #stream: AsyncIterator<WatchLeasesResponse>;

  constructor(client: Pick<Holdfast, 'leases'>) {
    this.#stream = client.leases.watchLeases({})[Symbol.asyncIterator]();
  }

  /** Reads one message; rejects when the stream has ended. */
  async read(): Promise<void> {
    const { message } = (await this.#stream.next()).value as WatchLeasesResponse;
    if (message.case === 'events') {
      this.positions.push(...message.value.events.map(({ position }) => Number(position)));
    }
    if (message.value && 'resumeToken' in message.value) this.token = message.value.resumeToken;
  }
}

async function writeNotes(board: Board, count: number, text: string): Promise<number> {
  const { id: taskId } = await board.task();
  for (let i = 0; i < count; i++) await board.member.tasks.addNote({ taskId, text });
  const { events } = await board.viewer.history.listHistory({ order: 2, pageSize: 1 });
  return Number(events[0]?.position);
}

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
    const board = await startBoard({ watch: { stallMs: 100 }, limits: { stalledMs: 400 } });
    const stuck = new Paused(board.service.client(board.viewer.token));
    const idle = await new Watching(board.viewer).begun();
    await stuck.read();
    await writeNotes(board, 30, LONG);
    const open = async () => {
      const text = await (await fetch(`${board.service.url}/metrics`)).text();
      return Number(/^holdfast_watches (\d+)$/m.exec(text)?.[1]);
    };
    await expect.poll(open, { timeout: 5_000 }).toBe(1);
    let ending: ReturnType<typeof endingOf> | undefined;
    while (!ending) await stuck.read().catch((error) => (ending = endingOf(error)));
    expect(ending.text).toContain('ENHANCE_YOUR_CALM');
    // One that has nothing to read does not count as one that reads nothing.
    await sleep(600);
    await board.task();
    await idle.until(({ positions }) => positions.length >= 34);
    await idle.stop();
  });
});
