import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Holdfast } from '@holdfast/client';
import type { Event } from '@holdfast/proto/history';
import { expect, it } from 'vitest';
import { EventLog } from '../../clients/dashboard/src/live/event-log.js';
import { eventMaker, granted } from './events.js';

const PAGE = 1_000;
const KEPT = 20_000;

/** A log whose server has these events, and answers in pages. */
function logOf(history: readonly Event[]): EventLog {
  const listHistory = async ({ pageToken = '', until }: { pageToken?: string; until?: Event['at'] }) => {
    const within = history.filter(({ at }) => !until || !at || timestampMs(at) < timestampMs(until));
    const end = pageToken === '' ? within.length : Number(pageToken);
    const start = Math.max(0, end - PAGE);
    return {
      events: within.slice(start, end).toReversed(),
      nextPageToken: start === 0 ? '' : String(start),
    };
  };
  return new EventLog({ history: { listHistory } } as unknown as Holdfast, '');
}

function history(count: number): Event[] {
  const event = eventMaker();
  return Array.from({ length: count }, (_, at) => event('LEASE_ACQUIRED', at, granted('ada', at)));
}

/** The positions are one after the other: nothing is left out. */
const isUnbroken = ({ events }: EventLog) =>
  events.every(({ position }, at) => at === 0 || position === (events[at - 1]?.position ?? 0n) + 1n);

it('keeps the newest events, and reads what it dropped when somebody pans back', async () => {
  const all = history(KEPT + 2 * PAGE);
  const log = logOf(all);
  for (const event of all) log.add(event);
  expect(log.events.length).toBeLessThanOrEqual(KEPT + PAGE);
  expect(log.events.at(-1)).toBe(all.at(-1));
  const before = log.events.length;
  while (log.canGrow) await log.loadOlder();
  expect(log.events.length).toBeGreaterThan(before);
  expect(log.events[0]).toBe(all[0]);
  expect(isUnbroken(log)).toBe(true);
});

it('drops no page that was panned to while events come in, until nobody looks at it', async () => {
  const all = history(KEPT + 5 * PAGE);
  const log = logOf(all.slice(0, -PAGE));
  while (log.canGrow) await log.loadOlder();
  for (const event of all.slice(-PAGE)) log.add(event);
  expect(log.events.length).toBe(all.length);

  log.forgetOlder();
  const [last] = history(all.length + 1).slice(-1);
  if (last) log.add(last);
  expect(log.events.length).toBe(KEPT);
  expect(log.canGrow).toBe(true);
  expect(isUnbroken(log)).toBe(true);
});
