import { describe, expect, it } from 'vitest';
import { type Batch, ProjectLog } from '../../src/feed/project-log.js';
import type { LogEntry } from '../../src/store/watch-log.js';

const entry = (position: bigint, bytes = 100) => ({ event: { position }, bytes }) as LogEntry;

function batch(after: number, last: number, bytes?: number): Batch {
  const entries = Array.from({ length: last - after }, (_, i) => entry(BigInt(after + 1 + i), bytes));
  return { after: BigInt(after), last: BigInt(last), entries, fresh: undefined };
}

const positionsAfter = (log: ProjectLog, position: number) => {
  const found = log.after(BigInt(position));
  return typeof found === 'string' ? found : found.entries.map(({ event }) => Number(event.position));
};

describe('a log', () => {
  it('gives what follows a position, batch by batch, and the same batch to all who are at its start', () => {
    const log = new ProjectLog(10n, { events: 100, bytes: 100_000 });
    expect(positionsAfter(log, 10)).toBe('NOTHING');
    log.push(batch(10, 13));
    log.push(batch(13, 14));
    expect(log.head).toBe(14n);
    expect(positionsAfter(log, 10)).toEqual([11, 12, 13]);
    expect(positionsAfter(log, 12)).toEqual([13]);
    expect(positionsAfter(log, 13)).toEqual([14]);
    expect(positionsAfter(log, 14)).toBe('NOTHING');
    expect(log.after(10n)).toBe(log.after(10n));
  });

  it('has nothing for who is ahead of it, until it has caught up', () => {
    const log = new ProjectLog(10n, { events: 100, bytes: 100_000 });
    expect(positionsAfter(log, 12)).toBe('NOTHING');
    log.push(batch(10, 14));
    expect(positionsAfter(log, 12)).toEqual([13, 14]);
  });

  it('does not know what came before it', () => {
    const log = new ProjectLog(10n, { events: 100, bytes: 100_000 });
    expect(positionsAfter(log, 9)).toBe('BEHIND');
    log.push(batch(10, 13));
    expect(positionsAfter(log, 9)).toBe('BEHIND');
  });

  it.each([
    ['events', { events: 5, bytes: 100_000 }],
    ['bytes', { events: 1_000, bytes: 550 }],
  ])('keeps no more %s than it may, the newest of them, and at least the last batch', (_, limits) => {
    const log = new ProjectLog(0n, limits);
    for (let i = 0; i < 10; i++) log.push(batch(2 * i, 2 * i + 2));
    expect(positionsAfter(log, 15)).toBe('BEHIND');
    expect(positionsAfter(log, 16)).toEqual([17, 18]);
    log.push(batch(20, 50));
    expect(positionsAfter(log, 19)).toBe('BEHIND');
    expect(log.after(20n)).toMatchObject({ last: 50n });
  });

  it('forgets all when there is a gap', () => {
    const log = new ProjectLog(0n, { events: 100, bytes: 100_000 });
    log.push(batch(0, 5));
    log.jumpTo(20n);
    expect(positionsAfter(log, 4)).toBe('BEHIND');
    expect(positionsAfter(log, 20)).toBe('NOTHING');
  });
});
