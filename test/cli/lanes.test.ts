import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { durationFromMs, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { EventKind, EventSchema } from '@holdfast/proto/history';
import { LeaseSchema } from '@holdfast/proto/lease';
import pc from 'picocolors';
import { beforeEach, expect, test } from 'vitest';
import { Lanes } from '../../src/cli/lanes.js';
import { columns } from '../../src/cli/text.js';

const plain = pc.createColors(false);
let lanes: Lanes;
beforeEach(() => {
  lanes = new Lanes();
});

const lease = (taskId: string, principal: string, remainingMs: number) =>
  create(LeaseSchema, {
    taskId,
    holder: { principal, executionId: `${principal}-run` },
    remaining: durationFromMs(remainingMs),
    attempt: 1,
  });

const event = (kind: EventKind, taskId: string, payload: MessageInitShape<typeof EventSchema>['payload']) => {
  const at = timestampFromMs(1_700_000_000_000);
  lanes.hear(
    {
      project: 'p',
      news: {
        kind: 'event',
        event: create(EventSchema, { project: 'p', kind, taskId, at, ...(payload && { payload }) }),
      },
    },
    0,
  );
};

const snapshot = (project: string, ...leases: ReturnType<typeof lease>[]) =>
  lanes.hear({ project, news: { kind: 'snapshot', leases, resumeToken: '' } }, 0);

const text = (nowMs = 0, width = 100, height = 24) => lanes.text(nowMs, width, height, plain);

test('one lane for each lease, by holder, counting down', () => {
  snapshot('p', lease('t2', 'ben', 3_723_000), lease('t1', 'ada', 61_000));
  lanes.entitle('t1', 'Write the parser');
  expect(text().split('\n').slice(0, 3)).toEqual([
    '2 leases held',
    'ada ada-run      1:01  Write the parser',
    'ben ben-run   1:02:03  t2',
  ]);
  expect(text(61_000)).toContain('lapsed');
});

test('grants, renewals and ends move the lanes', () => {
  snapshot('p');
  expect(text()).toContain('Nobody holds a lease.');
  const holder = { principal: 'ada', executionId: 'run-1' };
  event(EventKind.LEASE_ACQUIRED, 't1', {
    case: 'leaseGranted',
    value: { holder, attempt: 2, ttl: durationFromMs(60_000) },
  });
  expect(text()).toMatch(/ada run-1 +1:00 {2}t1 \(attempt 2\)/);
  lanes.hear({ project: 'p', news: { kind: 'renewed', leases: [lease('t1', 'ada', 90_000)] } }, 0);
  expect(text()).toContain('1:30');
  // A late word of a lease that is over brings nothing back.
  event(EventKind.LEASE_EXPIRED, 't1', { case: 'leaseEnded', value: { holder } });
  lanes.hear({ project: 'p', news: { kind: 'renewed', leases: [lease('t1', 'ada', 90_000)] } }, 0);
  expect(text()).toContain('Nobody holds a lease.');
  expect(text()).toContain('LEASE_EXPIRED');
});

test('a new snapshot replaces what its project held, and nothing of another', () => {
  snapshot('p', lease('t1', 'ada', 60_000));
  snapshot('q', lease('t2', 'ben', 60_000));
  snapshot('p', lease('t3', 'cleo', 60_000));
  expect(text()).not.toContain('ada');
  expect(text()).toContain('ben');
  expect(text()).toContain('cleo');
});

test('fits the terminal', () => {
  snapshot(
    'p',
    ...Array.from({ length: 60 }, (_, i) => lease(`t${i}`, `somebody with a long name ${i}`, 60_000)),
  );
  for (let i = 0; i < 60; i++) {
    lanes.entitle(`t${i}`, 'A title '.repeat(30));
    event(EventKind.NOTE_ADDED, `t${i}`, { case: 'noteAdded', value: { text: 'a note '.repeat(40) } });
  }
  for (const [width, height] of [
    [80, 24],
    [40, 12],
    [200, 60],
  ] as const) {
    const lines = text(0, width, height).split('\n');
    expect(lines.length).toBeLessThanOrEqual(height);
    for (const line of lines) expect(columns(line)).toBeLessThanOrEqual(width);
  }
  expect(text(0, 80, 24)).toContain('… and 44 more');
});
