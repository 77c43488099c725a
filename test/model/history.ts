import type { Event } from '@holdfast/proto/history';
import { expect } from 'vitest';
import { connect } from '../support/postgres.js';
import type { TestService } from '../support/service.js';
import { eventAnswer } from './answers.js';
import type { Model, ModelEvent, Who } from './model.js';
import { CALLERS, type System } from './system.js';

/** At the end of a run: what the history and the tables say must be what happened, and nothing else. */
export async function expectHistory(service: TestService, model: Model, real: System): Promise<void> {
  await real.sweep();
  model.sweep();
  const events = await everyEvent(real);
  expect(events.map(({ position }) => Number(position))).toEqual(events.map((_, i) => i + 1));
  for (const task of model.everyTask) {
    const told = events.filter(({ taskId }) => taskId === task.id).map(eventAnswer);
    expect(byStep(told, task.steps)).toEqual(task.steps.map(sorted));
  }
  await expectTables(service, model, real);
}

async function everyEvent(real: System): Promise<Event[]> {
  const { history } = real.as(CALLERS[0] as Who);
  const events: Event[] = [];
  let pageToken = '';
  do {
    const page = await history.listHistory({ pageSize: 1_000, pageToken });
    events.push(...page.events);
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
  return events;
}

/** Events cut into the model's steps; within a step, their order is free. */
function byStep(events: readonly ModelEvent[], steps: readonly (readonly ModelEvent[])[]): ModelEvent[][] {
  let from = 0;
  const cut = steps.map(({ length }) => {
    from += length;
    return sorted(events.slice(from - length, from));
  });
  const rest = events.slice(from);
  return rest.length > 0 ? [...cut, sorted(rest)] : cut;
}

const sorted = (events: readonly ModelEvent[]) => events.toSorted((a, b) => (a.kind < b.kind ? -1 : 1));

/** The rows: as many leases as were granted, each ended as told, tokens without a gap from 1 for each key. */
async function expectTables(service: TestService, model: Model, real: System): Promise<void> {
  const sql = connect(service.databaseUrl, { max: 1 });
  try {
    const leases = await sql<{ id: string; token: number; ended: boolean; grants: number; ends: number }[]>`
      SELECT l.id, l.fencing_token::int AS token, l."end" IS NOT NULL AS ended,
        (SELECT count(*)::int FROM event e WHERE e.project = l.project AND e.task_id = l.task_id
          AND e.fencing_token = l.fencing_token AND e.kind IN (15, 16)) AS grants,
        (SELECT count(*)::int FROM event e WHERE e.project = l.project AND e.task_id = l.task_id
          AND e.fencing_token = l.fencing_token AND e.kind IN (17, 18, 19)) AS ends
      FROM lease l WHERE project = ${real.project}`;
    expect(new Set(leases.map(({ id }) => id))).toEqual(new Set(model.leases.map(({ id }) => id)));
    for (const { grants, ends, ended } of leases)
      expect({ grants, ends }).toEqual({ grants: 1, ends: ended ? 1 : 0 });

    const current = await sql<{ id: string }[]>`
      SELECT l.id FROM lease l WHERE project = ${real.project} AND "end" IS NULL
      UNION SELECT lease_id FROM task_state WHERE project = ${real.project} AND lease_id IS NOT NULL`;
    const live = [...model.tasks.values()].flatMap((task) => task.lease?.id ?? []);
    expect(current.map(({ id }) => id).toSorted()).toEqual(live.toSorted());
  } finally {
    await sql.end();
  }
  for (const key of new Set(model.everyTask.map((task) => task.key))) {
    const tokens = model.leases.filter((lease) => lease.task.key === key).map((lease) => lease.token);
    expect(tokens).toEqual(tokens.map((_, i) => i + 1));
  }
}
