import type { Sql } from 'postgres';
import { beforeEach, describe, expect, it } from 'vitest';
import { placeIn, resumeTokenOf } from '../../src/rpc/resume-token.js';
import { type Board, startBoard } from '../rpc/board.js';
import { connect } from '../support/postgres.js';
import { Watching } from './watching.js';

let board: Board;
let sql: Sql;
beforeEach(async () => {
  board = await startBoard({ watch: { pollMs: 50 } });
  sql = connect(board.service.databaseUrl, { max: 1 });
  return () => sql.end();
});

/** Prunes the history as its retention does: up to a position. */
async function prune(upTo: bigint): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction`DELETE FROM event WHERE project = 'default' AND position <= ${upTo.toString()}`;
    await transaction`UPDATE history_head SET floor = ${upTo.toString()} WHERE project = 'default'`;
  });
}

/** A place in the history with some events before and behind it. */
async function somePlace() {
  for (let i = 0; i < 3; i++) await board.task();
  const watching = await new Watching(board.viewer).begun();
  await watching.stop();
  for (let i = 0; i < 3; i++) await board.task();
  const { events } = await board.viewer.history.listHistory({ pageSize: 1_000 });
  const place = placeIn(watching.token, 'default');
  return { place, head: events.at(-1)?.position ?? 0n };
}

const resumeAt = (place: Parameters<typeof resumeTokenOf>[0], position: bigint) =>
  new Watching(board.viewer, { resumeAfter: resumeTokenOf({ ...place, position }) });

describe('a watch that resumes', () => {
  it('one below the floor is told COMPACTED; at the floor and above it gets every event', async () => {
    const { place, head } = await somePlace();
    const floor = place.position + 2n;
    await prune(floor);
    const below = await resumeAt(place, floor - 1n).ended();
    expect(below).toMatchObject({ code: 'OutOfRange', gap: { reason: 'COMPACTED', floor } });
    expect(below.text).toContain(`up to position ${floor} are no longer kept`);
    for (const from of [floor, floor + 1n]) {
      const resumed = await resumeAt(place, from).until(({ positions }) => positions.includes(Number(head)));
      expect(resumed.positions[0]).toBe(Number(from) + 1);
      await resumed.stop();
    }
    // The detail's token is where what is kept begins.
    const rest = await new Watching(board.viewer, { resumeAfter: below.gap?.resumeToken ?? '' }).until(
      ({ positions }) => positions.includes(Number(head)),
    );
    expect(rest.positions[0]).toBe(Number(floor) + 1);
    await rest.stop();
  });

  it('from the very beginning gets the whole history, in pages', async () => {
    const { place } = await somePlace();
    await sql`
      INSERT INTO event (project, kind, at, payload)
      SELECT 'default', 26, holdfast_now(), jsonb_build_object('title', repeat('x', 2000), 'changes', '[]'::jsonb)
      FROM generate_series(1, 1500)`;
    await board.viewer.history.listHistory({});
    const resumed = await resumeAt(place, 0n).until(({ positions }) => positions.length > 1_500);
    expect(resumed.positions).toEqual(resumed.positions.map((_, i) => i + 1));
    const sizes = resumed.messages.flatMap((m) => (m.case === 'events' ? [m.value.events.length] : []));
    expect(Math.max(...sizes)).toBeLessThan(200);
    await resumed.stop();
  });

  it('from the future is told RESET', async () => {
    const { place, head } = await somePlace();
    const { code, gap, text } = await resumeAt(place, head + 100n).ended();
    expect([code, gap?.reason]).toEqual(['OutOfRange', 'RESET']);
    expect(text).toMatch(/^RESET: /);
    expect(await resumeAt(place, 2n ** 63n - 1n).ended()).toMatchObject({ gap: { reason: 'RESET' } });
  });

  it('from another database is told RESET', async () => {
    const { place } = await somePlace();
    expect(await resumeAt({ ...place, epoch: 'another' }, 1n).ended()).toMatchObject({
      code: 'OutOfRange',
      gap: { reason: 'RESET', floor: 0n },
    });
  });
});

describe('an open watch', () => {
  it('does not notice that what it was told is pruned', async () => {
    const watching = await new Watching(board.viewer).begun();
    await board.task();
    await watching.until(({ kinds }) => kinds.length === 2);
    await prune(BigInt(watching.positions.at(-1) ?? 0));
    await board.task();
    await watching.until(({ kinds }) => kinds.length === 4);
    await watching.stop();
  });

  it('is told COMPACTED when the server slept through what is pruned', async () => {
    const watching = await new Watching(board.viewer).begun();
    // Numbered and pruned in one transaction: nobody can have read it.
    await sql.begin(async (transaction) => {
      const [head] = await transaction`
        UPDATE history_head SET position = position + 5, floor = position + 5 WHERE project = 'default' RETURNING floor`;
      expect(head).toBeDefined();
    });
    const { code, gap } = await watching.ended();
    expect([code, gap?.reason]).toEqual(['OutOfRange', 'COMPACTED']);
  });

  it('is told RESET when the database becomes another one', async () => {
    const watching = await new Watching(board.viewer).begun();
    await sql`UPDATE meta SET epoch = 'restored'`;
    expect(await watching.ended()).toMatchObject({ code: 'OutOfRange', gap: { reason: 'RESET' } });
    const fresh = await new Watching(board.viewer).begun();
    expect(placeIn(fresh.token, 'default').epoch).toBe('restored');
    await fresh.stop();
  });

  it('is told RESET when the history is set back', async () => {
    for (let i = 0; i < 3; i++) await board.task();
    await board.viewer.history.listHistory({});
    const watching = await new Watching(board.viewer).begun();
    await sql`UPDATE history_head SET position = position - 1`;
    expect(await watching.ended()).toMatchObject({ gap: { reason: 'RESET' } });
  });
});
