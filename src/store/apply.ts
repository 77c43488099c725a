import type { Micros } from '../domain/instant.js';
import type { TaskState } from '../domain/task-state.js';
import { changesJson, eventsJson, type NumberedChange, requestsJson } from './apply-json.js';
import { shapeOf, statementFor } from './apply-statement.js';
import type { ChangeItem } from './change-item.js';
import type { Sql } from './database.js';
import { micros, type Row, stateOf } from './task-row.js';

/** A change that was applied: the row after it, and the clock it was applied at. */
export interface Applied {
  readonly kind: 'APPLIED';
  /** Undefined when the change removed the task. */
  readonly state: TaskState | undefined;
  readonly at: Micros;
  /** The tasks that became ready by it. */
  readonly readied: readonly string[];
}

export type ApplyResult =
  | Applied
  /** Something that the decision relied on has changed: read again and decide anew. */
  | { readonly kind: 'OVERTAKEN' }
  /** Somebody else has the row locked, and the caller did not want to wait. */
  | { readonly kind: 'BUSY' };

/**
 * The only way to change a task. One statement: it locks the rows in the order of their keys, reads the clock
 * after the last lock, goes on with those changes whose expectations still hold, and writes state, content,
 * lease, note, events and request together.
 *
 * Why one statement: it is atomic whatever dies, and nothing is held between round trips. Why the versions
 * suffice: after waiting for a lock, Postgres re-reads only the locked row, so all that decisions rely on is
 * in that row, and rows of other tables belong to a version that was already seen by the read before.
 *
 * A change that propagates, to tasks that wait for its own, must be the only item: those tasks are locked and
 * counted in the same statement, and a statement changes a row once.
 *
 * @param items no task twice
 * @param locked whether to wait for rows that somebody else has locked, or to pass over them as BUSY
 */
export async function apply(
  sql: Sql,
  items: readonly ChangeItem[],
  locked: 'wait' | 'skip',
): Promise<ApplyResult[]> {
  const changes = numbered(items);
  const shape = shapeOf(items, changes, locked);
  const parameters = [
    changesJson(changes),
    ...(shape.events ? [eventsJson(changes)] : []),
    ...(shape.requests ? [requestsJson(changes, items)] : []),
  ];
  const rows: Row[] = await sql.unsafe(statementFor(shape), parameters, { prepare: true });

  const byItem = new Map<number, Row[]>();
  for (const row of rows) {
    const item = row.item as number;
    byItem.set(item, [...(byItem.get(item) ?? []), row]);
  }
  return items.map((_, item): ApplyResult => {
    const [main, ...others] = byItem.get(item) ?? [];
    if (main && main.t !== null) {
      return {
        kind: 'APPLIED',
        state: main.s_task_id === null ? undefined : stateOf(main),
        at: micros(main.t),
        readied: (main.readied as string[] | null) ?? [],
      };
    }
    const passedOver = [main, ...others].some((row) => !row?.had_lock);
    return { kind: passedOver && locked === 'skip' ? 'BUSY' : 'OVERTAKEN' };
  });
}

/** All changes of all items, in one row of numbers. */
function numbered(items: readonly ChangeItem[]): NumberedChange[] {
  return items
    .flatMap(({ project, change, also = [] }, item) =>
      [change, ...also].map((part) => ({ ...part, project, item })),
    )
    .map((change, i) => ({ ...change, i }));
}
