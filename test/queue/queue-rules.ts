import type { Sql } from 'postgres';

/**
 * What must hold for the queue at every moment, recomputed from edges and statuses alone. Statuses and standings
 * are the numbers of the database: 1 OPEN, 2 IN_PROGRESS, 3 DONE, 4 DROPPED, 5 QUARANTINED; 1 ready, 2 blocked,
 * 3 leased, 4 quarantined.
 */
const RULES: Record<string, string> = {
  'a task counts its unmet dependencies and its edges': `
    SELECT s.task_id, s.status, s.unmet, s.blockers, s.dependents, f.unmet AS really_unmet,
      f.blockers AS real_blockers, b.dependents AS real_dependents
    FROM task_state s
    CROSS JOIN LATERAL (
      SELECT count(*) AS blockers,
        count(*) FILTER (WHERE NOT (o.status = 3 OR (o.status = 4 AND d.accept_dropped))) AS unmet
      FROM dependency d LEFT JOIN task_state o ON o.project = d.project AND o.task_id = d.blocker_id
      WHERE d.project = s.project AND d.task_id = s.task_id) f
    CROSS JOIN LATERAL (
      SELECT count(*) AS dependents FROM dependency d WHERE d.project = s.project AND d.blocker_id = s.task_id) b
    WHERE s.unmet <> f.unmet OR s.blockers <> f.blockers OR s.dependents <> b.dependents`,
  'the queue holds exactly the unfinished tasks, as they stand': `
    SELECT coalesce(s.task_id, q.task_id) AS task_id, s.status, s.unmet, q.standing FROM task_state s
    FULL JOIN queue q ON q.project = s.project AND q.task_id = s.task_id
    WHERE q.standing IS DISTINCT FROM CASE s.status
      WHEN 1 THEN CASE WHEN s.unmet > 0 THEN 2 ELSE 1 END WHEN 2 THEN 3 WHEN 5 THEN 4 END`,
  'the queue sorts and filters by what the task says': `
    SELECT t.id AS task_id, q.*, s.priority AS true_priority, t.labels AS true_labels FROM queue q
    JOIN task t ON t.project = q.project AND t.id = q.task_id
    JOIN task_state s ON s.project = q.project AND s.task_id = q.task_id
    WHERE q.priority <> s.priority OR q.labels <> t.labels OR q.seq <> t.seq OR q.plan_order <> t.plan_order
      OR q.plan_id IS DISTINCT FROM t.plan_id OR q.assignee IS DISTINCT FROM t.assignee`,
  'each label of a task in the queue has its row in the list of that label, and there are no others': `
    SELECT coalesce(l.task_id, q.task_id) AS task_id, q.label AS label, l.label AS listed FROM queue_label l
    FULL JOIN (SELECT * FROM queue CROSS JOIN unnest(labels) label) q ON q.project = l.project AND q.task_id = l.task_id
      AND q.label = l.label AND q.standing = l.standing AND q.priority = l.priority AND q.plan_order = l.plan_order
      AND q.seq = l.seq
    WHERE q.task_id IS NULL OR l.task_id IS NULL`,
  'an edge has both its ends': `
    SELECT d.task_id, d.blocker_id FROM dependency d
    LEFT JOIN task_state one ON one.project = d.project AND one.task_id = d.task_id
    LEFT JOIN task_state other ON other.project = d.project AND other.task_id = d.blocker_id
    WHERE one.task_id IS NULL OR other.task_id IS NULL`,
  'a parent waits for its sub-tasks': `
    SELECT t.id AS task_id, t.parent_id FROM task t
    LEFT JOIN dependency d ON d.project = t.project AND d.task_id = t.parent_id AND d.blocker_id = t.id
    WHERE t.parent_id IS NOT NULL AND d.accept_dropped IS NOT TRUE`,
  'no task waits for itself, however far around': `
    WITH RECURSIVE way(project, start, task_id) AS (
      SELECT project, task_id, blocker_id FROM dependency
      UNION
      SELECT w.project, w.start, d.blocker_id FROM way w
      JOIN dependency d ON d.project = w.project AND d.task_id = w.task_id WHERE w.task_id <> w.start)
    SELECT start AS task_id FROM way WHERE start = task_id`,
};

/** The additional rules once {@link watchQueue} has watched the database. */
const WATCHED: Record<string, string> = {
  'TASK_READY is told exactly when a task becomes ready': `
    SELECT coalesce(r.task_id, e.task_id) AS task_id, r.xact AS became, e.xact AS told
    FROM (SELECT * FROM watched WHERE what = 'became ready') r
    FULL JOIN (SELECT * FROM watched WHERE what = 'told ready') e ON e.task_id = r.task_id AND e.xact = r.xact
    WHERE r.task_id IS NULL OR e.task_id IS NULL`,
  'no task is granted while it is blocked': `SELECT task_id FROM watched WHERE what = 'granted blocked'`,
};

/** Notes, in the same transaction, when a task becomes ready, is told ready, or is granted while it is blocked. */
export async function watchQueue(sql: Sql): Promise<void> {
  await sql.unsafe(`
    CREATE TABLE watched (what text NOT NULL, xact xid8 NOT NULL, task_id text NOT NULL);
    CREATE FUNCTION watch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO watched VALUES (TG_ARGV[0], pg_current_xact_id(), NEW.task_id);
      RETURN NULL;
    END $$;
    CREATE TRIGGER watch_enters AFTER INSERT ON queue FOR EACH ROW WHEN (NEW.standing = 1)
      EXECUTE FUNCTION watch('became ready');
    CREATE TRIGGER watch_turns AFTER UPDATE ON queue FOR EACH ROW WHEN (NEW.standing = 1 AND OLD.standing <> 1)
      EXECUTE FUNCTION watch('became ready');
    CREATE TRIGGER watch_told AFTER INSERT ON event FOR EACH ROW WHEN (NEW.kind = 3)
      EXECUTE FUNCTION watch('told ready');
    CREATE TRIGGER watch_granted AFTER UPDATE ON task_state FOR EACH ROW
      WHEN (NEW.fencing_token > OLD.fencing_token AND NEW.unmet > 0) EXECUTE FUNCTION watch('granted blocked');`);
}

/** One line for each rule of the queue that is broken, none when all is well. */
export async function brokenQueueRules(sql: Sql): Promise<string[]> {
  const [row] = await sql`SELECT to_regclass('watched') IS NOT NULL AS watching`;
  const lines: string[] = [];
  for (const [rule, select] of Object.entries({ ...RULES, ...(row?.watching && WATCHED) })) {
    const rows = await sql.unsafe(String(select));
    if (rows.length > 0) lines.push(`${rule}: ${rows.length} do not, such as ${JSON.stringify(rows[0])}`);
  }
  return lines;
}
