import { LeaseEndCause } from '@holdfast/proto/history';
import { describe, expect, it } from 'vitest';
import { ticks } from '../../clients/dashboard/src/timeline/axis.js';
import { drawUp, lanesBetween } from '../../clients/dashboard/src/timeline/lanes.js';
import { ended, eventMaker, granted, holder } from './events.js';

const { COMPLETED } = LeaseEndCause;

function race() {
  const event = eventMaker();
  return [
    event('LEASE_ACQUIRED', 0, granted('ada', 0)),
    event('ACQUIRE_REFUSED', 10, {
      actor: 'ben',
      executionId: 'ben-run',
      payload: { case: 'acquireRefused', value: { reason: 'HELD', holder: holder('ada') } },
    }),
    event('LEASE_EXPIRED', 1_000, ended('ada')),
    event('LEASE_TAKEN_OVER', 1_200, {
      ...granted('ben', 1_200),
      fencingToken: 2n,
      payload: {
        case: 'leaseGranted',
        value: { holder: holder('ben'), attempt: 2, previousHolder: holder('ada') },
      },
    }),
    event('LEASE_RELEASED', 1_500, { ...ended('ben', COMPLETED), fencingToken: 2n }),
  ];
}

describe('the lanes', () => {
  it('have a bar for each lease, by how it ended, and a mark for each refusal', () => {
    const { bars, marks } = drawUp(race(), new Map(), 0);
    expect(
      bars.map(({ lane, startMs, endMs, end, takenFrom }) => ({ lane, startMs, endMs, end, takenFrom })),
    ).toEqual([
      { lane: 'ada\nada-run', startMs: 0, endMs: 1_000, end: 'expired', takenFrom: undefined },
      { lane: 'ben\nben-run', startMs: 1_200, endMs: 1_500, end: 'completed', takenFrom: 'ada\nada-run' },
    ]);
    expect(marks).toMatchObject([
      { kind: 'refused', lane: 'ben\nben-run', against: 'ada\nada-run', taskId: 't', atMs: 10 },
    ]);
  });

  it('show what began before the history that was read', () => {
    const { bars } = drawUp(race().slice(2), new Map(), 1_000);
    expect(bars[0]).toMatchObject({ startKnown: false, startMs: 1_000, endMs: 1_000, end: 'expired' });
  });

  it('show live leases with the deadline that renewals gave them', () => {
    const lease = {
      taskId: 't',
      holder: { $typeName: 'holdfast.v1.Holder' as const, ...holder('ada') },
      fencingToken: 1n,
      attempt: 1,
      grantedAtMs: 0,
      expiresAtMs: 5_000,
      ttlMs: 1_000,
    };
    const leases = new Map([['t', lease]]);
    expect(drawUp(race().slice(0, 1), leases, 0).bars).toMatchObject([{ end: 'live', endMs: 5_000 }]);
    // Also when the grant is older than what was read.
    expect(drawUp([], leases, 0).bars).toMatchObject([{ end: 'live', startMs: 0, endMs: 5_000 }]);
  });

  it('are those of a stretch of time, in the order of their first appearance', () => {
    const drawn = drawUp(race(), new Map(), 0);
    const names = (from: number, to: number) =>
      lanesBetween(drawn, from, to).lanes.map(({ principal }) => principal);
    expect(names(0, 2_000)).toEqual(['ada', 'ben']);
    expect(names(1_100, 2_000)).toEqual(['ben']);
    expect(names(2_000, 3_000)).toEqual([]);
  });

  it('have a row for each lease that is held at the same time', () => {
    const event = eventMaker();
    const drawn = drawUp(
      [
        event('LEASE_ACQUIRED', 0, granted('ada', 0, 100)),
        event('LEASE_ACQUIRED', 50, { ...granted('ada', 50, 100), taskId: 'u' }),
        event('LEASE_ACQUIRED', 120, { ...granted('ada', 120, 100), taskId: 'v' }),
      ],
      new Map(),
      0,
    );
    const [lane] = lanesBetween(drawn, 0, 1_000).lanes;
    expect([lane?.rows, lane?.bars.map(({ row }) => row)]).toEqual([2, [0, 1, 0]]);
  });
});

describe('too many leases', () => {
  it('are cut to the newest, and that is said', () => {
    const event = eventMaker();
    const grants = Array.from({ length: 1_600 }, (_, at) =>
      event('LEASE_ACQUIRED', at, { ...granted('ada', at), taskId: `t${at}` }),
    );
    const { lanes, leftOut } = lanesBetween(drawUp(grants, new Map(), 0), 0, 10_000);
    expect([lanes[0]?.bars.length, leftOut]).toEqual([1_500, 100]);
    expect(lanes[0]?.bars.some(({ taskId }) => taskId === 't0')).toBe(false);
  });
});

describe('the axis', () => {
  it.each([
    [0, 10_000, 1_000],
    [0, 3_600_000, 800],
    [5_000_000_123, 5_400_000_456, 300],
    [0, 90 * 86_400_000, 400],
  ])('has marks in order and far enough apart: %i–%i on %i px', (from, to, width) => {
    const marks = ticks(from, to, width);
    const apart = marks
      .slice(1)
      .map(({ atMs }, at) => ((atMs - (marks[at]?.atMs ?? 0)) / (to - from)) * width);
    expect(marks.length).toBeGreaterThan(0);
    expect(Math.min(...apart, 96)).toBeGreaterThanOrEqual(96);
    expect(marks.every(({ atMs }) => atMs >= from && atMs <= to)).toBe(true);
  });
});
