import type { Sql } from 'postgres';

const TABLES = ['task', 'task_state', 'dependency', 'queue', 'queue_label'];

/**
 * A board of so many tasks, written by SQL: the same rows at any size. A quarter is done, half is ready and waits
 * for three of those, the last quarter is blocked by three of the ready ones. They differ in what the queue sorts
 * and filters by:
 *
 * - priority: three of them
 * - labels: `frequent` on each third task, `late` on the third of lowest priority, `medium` on one of a thousand,
 *   `rare` on three
 * - plans: each second task is in one of ten; assignee: each fiftieth is meant for `ada`
 */
export async function fillBoard(sql: Sql, tasks: number): Promise<void> {
  const quarter = Math.floor(tasks / 4);
  // Losing the fill in a crash would cost nothing but this run.
  await sql.unsafe(`
    SET synchronous_commit = off;
    INSERT INTO task (project, id, title, body, labels, plan_id, plan_order, assignee, created_at, created_by, updated_at)
    SELECT 'default', 'task-' || n, 'task ' || n, '', array_remove(ARRAY[
        CASE WHEN n % 3 = 0 THEN 'frequent' END, CASE WHEN n % 15 < 5 THEN 'late' END,
        CASE WHEN n % 1000 = 407 THEN 'medium' END,
        CASE WHEN n IN (${quarter} + 5, ${quarter} + 50, ${quarter} + 95) THEN 'rare' END], NULL),
      CASE WHEN n % 2 = 0 THEN 'plan-' || n / 30 % 10 END, n, CASE WHEN n % 50 = 0 THEN 'ada' END, 1, 'bench', 1
    FROM generate_series(1, ${tasks}) n;
    INSERT INTO task_state (project, task_id, status, priority, fencing_token, unmet, blockers, dependents)
    SELECT 'default', 'task-' || n, CASE WHEN n <= ${quarter} THEN 3 ELSE 1 END, n % 15 / 5, 0,
      CASE WHEN n > 3 * ${quarter} THEN 3 ELSE 0 END, 3, 0
    FROM generate_series(1, ${tasks}) n;
    INSERT INTO dependency (project, task_id, blocker_id, accept_dropped)
    SELECT 'default', 'task-' || n,
      'task-' || CASE WHEN n > 3 * ${quarter} THEN n - ${quarter} - k ELSE (n + k * 7) % ${quarter} + 1 END, false
    FROM generate_series(${quarter} + 1, ${tasks}) n, generate_series(1, 3) k;
    -- Half a million calls of the trigger would take their time.
    ALTER TABLE queue DISABLE TRIGGER USER;
    INSERT INTO queue (project, task_id, standing, priority, plan_id, plan_order, seq, labels, assignee)
    SELECT t.project, t.id, CASE WHEN s.unmet > 0 THEN 2 ELSE 1 END, s.priority, t.plan_id, t.plan_order, t.seq,
      t.labels, t.assignee
    FROM task t JOIN task_state s ON s.project = t.project AND s.task_id = t.id WHERE s.status = 1 ORDER BY t.seq;
    INSERT INTO queue_label (project, label, task_id, standing, priority, plan_order, seq)
    SELECT project, label, task_id, standing, priority, plan_order, seq FROM queue CROSS JOIN unnest(labels) label;
    ALTER TABLE queue ENABLE TRIGGER USER;
    INSERT INTO plan (project, id, title, body, last_order, created_at, created_by)
    SELECT 'default', 'plan-' || n, 'plan ' || n, '', ${tasks}, 1, 'bench' FROM generate_series(0, 9) n`);
  await sql.unsafe(`
    UPDATE task_state s SET dependents = d.n
    FROM (SELECT blocker_id, count(*) AS n FROM dependency GROUP BY blocker_id) d
    WHERE s.project = 'default' AND s.task_id = d.blocker_id`);
  // What autovacuum has done to a board that grew slowly.
  for (const table of TABLES) await sql.unsafe(`VACUUM ANALYZE ${table}`);
}
