import { describe, expect, it } from 'vitest';
import type { EventKind } from '../../src/domain/event.js';
import { passesEvent, passesLease, type WatchFilter } from '../../src/domain/watch-filter.js';

const ALL: WatchFilter = {
  taskIds: undefined,
  planId: undefined,
  kinds: undefined,
  principal: undefined,
  executionId: undefined,
};
const ADA = { principal: 'ada', executionId: 'run-1' };
const ROB = { principal: 'rob', executionId: 'run-2' };

interface Told {
  kind?: EventKind;
  taskId?: string | undefined;
  by?: { principal: string; executionId: string | undefined } | undefined;
  payload?: object;
}

const event = (told: Told) => {
  const { kind, taskId, by, payload } = {
    kind: 'NOTE_ADDED' as const,
    taskId: 't',
    by: undefined,
    payload: {},
    ...told,
  };
  return { kind, taskId, actor: by?.principal, executionId: by?.executionId, payload };
};

const only = (filter: Partial<WatchFilter>, told: Told, planId?: string) =>
  passesEvent({ ...ALL, ...filter }, event(told), planId);

describe('an event passes', () => {
  it.each<[string, Partial<WatchFilter>, Told, string | undefined, boolean]>([
    ['nothing is asked for', {}, {}, undefined, true],
    ['its task is', { taskIds: new Set(['t']) }, {}, undefined, true],
    ['another task is', { taskIds: new Set(['u']) }, {}, undefined, false],
    [
      'tasks are, and it is about none',
      { taskIds: new Set(['t']) },
      { taskId: undefined, kind: 'TOKEN_CREATED' },
      undefined,
      false,
    ],
    ['its plan is', { planId: 'p' }, {}, 'p', true],
    ['another plan is', { planId: 'p' }, {}, 'q', false],
    ['a plan is, and it has none', { planId: 'p' }, {}, undefined, false],
    [
      'its plan is, and it is about that',
      { planId: 'p' },
      { kind: 'PLAN_UPDATED', payload: { planId: 'p' } },
      undefined,
      true,
    ],
    ['its kind is', { kinds: new Set<EventKind>(['NOTE_ADDED']) }, {}, undefined, true],
    ['another kind is', { kinds: new Set<EventKind>(['TASK_READY']) }, {}, undefined, false],
    ['no known kind is', { kinds: new Set() }, {}, undefined, false],
    ['who did it is', { principal: 'ada' }, { by: ADA }, undefined, true],
    ['somebody else is', { principal: 'rob' }, { by: ADA }, undefined, false],
    ['a principal is, and nobody did it', { principal: 'ada' }, {}, undefined, false],
    [
      'who held it is',
      { principal: 'ada' },
      { kind: 'LEASE_EXPIRED', payload: { holder: ADA } },
      undefined,
      true,
    ],
    [
      'who held it before is',
      { principal: 'ada' },
      { by: ROB, payload: { holder: ROB, previousHolder: ADA } },
      undefined,
      true,
    ],
    ['its execution is', { executionId: 'run-1' }, { by: ADA }, undefined, true],
    ['another execution is', { executionId: 'run-2' }, { by: ADA }, undefined, false],
    [
      'one has the principal and the other the execution',
      { principal: 'ada', executionId: 'run-2' },
      { by: ADA, payload: { holder: ROB } },
      undefined,
      false,
    ],
    [
      'only one of two parts holds',
      { principal: 'ada', taskIds: new Set(['u']) },
      { by: ADA },
      undefined,
      false,
    ],
  ])('when %s: %#', (_, filter, told, planId, passes) => {
    expect(only(filter, told, planId)).toBe(passes);
  });
});

describe('a lease passes', () => {
  const lease = { taskId: 't', holder: ADA } as Parameters<typeof passesLease>[1];
  it.each<[string, Partial<WatchFilter>, boolean]>([
    ['nothing is asked for', {}, true],
    ['kinds of events are', { kinds: new Set() }, true],
    ['its task is', { taskIds: new Set(['t']) }, true],
    ['another task is', { taskIds: new Set(['u']) }, false],
    ['its plan is', { planId: 'p' }, true],
    ['another plan is', { planId: 'q' }, false],
    ['its holder is', { principal: 'ada', executionId: 'run-1' }, true],
    ['another execution is', { principal: 'ada', executionId: 'run-2' }, false],
  ])('when %s', (_, filter, passes) => {
    expect(passesLease({ ...ALL, ...filter }, lease, 'p')).toBe(passes);
  });
});
