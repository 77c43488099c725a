import { setTimeout as sleep } from 'node:timers/promises';
import { type Event, type EventKind, HistoryOrder } from '@holdfast/proto/history';
import type { Stage } from './stage.js';

const ASK_EVERY_MS = 50;

/** Waits until the history tells of such an event. Undefined when it does not within `withinMs`. */
export async function awaitEvent(
  { holdfast, project }: Stage,
  filter: { taskId: string; kinds: EventKind[] },
  withinMs: number,
): Promise<Event | undefined> {
  const giveUpAt = performance.now() + withinMs;
  for (;;) {
    const { events } = await holdfast.history.listHistory({ project, ...filter, pageSize: 1 });
    if (events[0] || performance.now() > giveUpAt) return events[0];
    await sleep(ASK_EVERY_MS);
  }
}

/** All that the history tells of a task, oldest first. The demo's tasks have few events. */
export async function taskHistory({ holdfast, project }: Stage, taskId: string): Promise<Event[]> {
  const order = HistoryOrder.OLDEST_FIRST;
  const { events } = await holdfast.history.listHistory({ project, taskId, order, pageSize: 1_000 });
  return events;
}
