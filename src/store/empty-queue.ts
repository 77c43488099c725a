import type { Micros } from '../domain/instant.js';
import type { Sql } from './database.js';
import { type QueueFilter, type Standing, someOf } from './queue-list.js';
import type { Row } from './task-row.js';

/** How many tasks, or at least how many: counting further would cost more than it tells. */
export interface Counted {
  readonly n: number;
  readonly more: boolean;
}

/** Why nothing is ready. */
export interface EmptyQueue {
  /** Of the tasks that match. */
  readonly leased: Counted;
  readonly blocked: Counted;
  readonly quarantined: Counted;
  /** Ready tasks that the filter leaves out. */
  readonly filteredOut: Counted;
  /** Until the first live lease of those counted ends, unless it is renewed. */
  readonly nextExpiry: Micros | undefined;
}

export interface EmptyQuestion {
  readonly project: string;
  readonly filter: QueueFilter;
}

const COUNTED = 1_000;

/**
 * Answers several callers who found nothing ready. What it reads is bounded, however many tasks there are, and it is
 * read once for all who ask the same.
 */
export async function explainEmpty(sql: Sql, questions: readonly EmptyQuestion[]): Promise<EmptyQueue[]> {
  const answers = new Map<string, Promise<EmptyQueue>>();
  return Promise.all(
    questions.map((question) => {
      const { planId, labels, assignee } = question.filter;
      const key = JSON.stringify([question.project, planId, labels.toSorted(), assignee]);
      const answer = answers.get(key) ?? explain(sql, question);
      answers.set(key, answer);
      return answer;
    }),
  );
}

async function explain(sql: Sql, { project, filter }: EmptyQuestion): Promise<EmptyQueue> {
  const counted = (standing: Standing, which: QueueFilter) => {
    const { tasks, more } = someOf(sql, { project, filter: which, standing }, COUNTED);
    return sql`(SELECT json_build_object('n', count(task_id), 'more', ${more}) FROM ${tasks} counted)`;
  };
  const leased = someOf(sql, { project, filter, standing: 'LEASED' }, COUNTED);
  const [row] = await sql<Row[]>`
    SELECT ${counted('READY', { planId: undefined, labels: [], assignee: undefined })} AS filtered_out,
      ${counted('BLOCKED', filter)} AS blocked, ${counted('QUARANTINED', filter)} AS quarantined, leased.*
    FROM (
      SELECT json_build_object('n', count(counted.task_id), 'more', ${leased.more}) AS leased,
        min(s.expires_at) FILTER (WHERE s.expires_at > clock.now) - min(clock.now) AS next_expiry
      FROM (SELECT holdfast_now() AS now) clock CROSS JOIN ${leased.tasks} counted
      LEFT JOIN LATERAL (
        SELECT expires_at FROM task_state s WHERE s.project = ${project} AND s.task_id = counted.task_id OFFSET 0) s ON true
    ) leased`;
  if (!row) throw new Error('explaining an empty queue answered no row');
  return {
    leased: row.leased as Counted,
    blocked: row.blocked as Counted,
    quarantined: row.quarantined as Counted,
    filteredOut: row.filtered_out as Counted,
    nextExpiry: row.next_expiry === null ? undefined : Number(row.next_expiry),
  };
}
