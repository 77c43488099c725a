import { beforeAll, describe, expect, it } from 'vitest';
import { numberEvents } from '../../src/store/history.js';
import { readLogs } from '../../src/store/watch-log.js';
import { openStores, PROJECT, type Stores } from './fixture.js';

let db: Stores;
beforeAll(async () => {
  db = await openStores();
  await db.sql`INSERT INTO project (id, title, created_at) VALUES ('other', 'other', 0), ('empty', 'empty', 0)`;
  const write = (project: string, sizes: number[]) => db.sql`
    INSERT INTO event (project, kind, at, payload)
    SELECT ${project}, 26, 5, jsonb_build_object('title', repeat('x', size), 'changes', '[]'::jsonb)
    FROM unnest(${sizes}::int[]) size`;
  await write('other', [10, 10, 10, 5_000, 10, 10]);
  await write(PROJECT, [10]);
  await numberEvents(db.stores[0], 1_000);
});

const read = async (after: bigint, limit: number, bytes: number) => {
  const [page] = await readLogs(db.stores[0], [{ project: 'other', after }], limit, bytes);
  return page;
};
const positions = (page: Awaited<ReturnType<typeof read>>) =>
  page?.entries.map(({ event }) => Number(event.position));

describe('a page of the log', () => {
  it('ends with the history', async () => {
    const page = await read(0n, 100, 100_000);
    expect([positions(page), page?.more]).toEqual([[1, 2, 3, 4, 5, 6], false]);
    expect(page).toMatchObject({ project: 'other', head: 6n, floor: 0n });
    expect([positions(await read(6n, 100, 100_000)), (await read(6n, 100, 100_000))?.more]).toEqual([
      [],
      false,
    ]);
  });

  it('has so many events at most', async () => {
    expect([positions(await read(1n, 2, 100_000)), (await read(1n, 2, 100_000))?.more]).toEqual([
      [2, 3],
      true,
    ]);
  });

  it('ends when it is large enough, and one event that is larger goes alone', async () => {
    const small = await read(0n, 100, 1_500);
    expect([positions(small), small?.more]).toEqual([[1, 2, 3], true]);
    const large = await read(3n, 100, 1_500);
    expect([positions(large), large?.more]).toEqual([[4], true]);
  });

  it('is read for many projects at once, also for those without events', async () => {
    const pages = await readLogs(
      db.stores[0],
      [
        { project: 'other', after: 5n },
        { project: 'empty', after: 0n },
        { project: PROJECT, after: 0n },
        { project: 'never-was', after: 0n },
      ],
      100,
      100_000,
    );
    expect(pages.map(({ project, head }) => [project, head])).toEqual([
      ['other', 6n],
      ['empty', 0n],
      [PROJECT, 2n],
      ['never-was', 0n],
    ]);
    expect(pages.map(({ entries }) => entries.length)).toEqual([1, 0, 2, 0]);
  });
});
