-- What Postgres knows of tables that are still empty is nothing, and then any index that begins with the project looks
-- as good to it as the key: reading a thousand tasks by their ids, right after the first start, took the square of
-- that. So the tables are counted once while they hold rows such as a project's will be. Statistics outlive a
-- TRUNCATE, and nothing is counted anew before there are rows. A database that has rows already needs none of this.
-- The rows are of many projects, so that none is remembered by its name, and another one taken for empty.
DO $$
BEGIN
  -- Looked at before the locks, which would stop everybody on a database that is in use, and again behind them.
  IF EXISTS (SELECT FROM task UNION ALL SELECT FROM lease) THEN
    RETURN;
  END IF;
  LOCK TABLE task, task_state, dependency, queue, queue_label, lease, note IN ACCESS EXCLUSIVE MODE;
  IF EXISTS (SELECT FROM task UNION ALL SELECT FROM lease) THEN
    RETURN;
  END IF;

  INSERT INTO task (project, id, title, body, labels, plan_id, plan_order, parent_id, external_key, assignee,
    created_at, created_by, updated_at)
  SELECT 'sample-' || n % 150, 'task-' || n, 'title ' || n, '', '{}', CASE WHEN n % 2 = 0 THEN 'plan-' || n % 20 END, n,
    CASE WHEN n % 10 = 0 THEN 'task-' || n / 10 END, CASE WHEN n % 2 = 0 THEN 'key-' || n END,
    CASE WHEN n % 50 = 0 THEN 'principal-' || n % 4 END, n, 'principal-' || n % 4, n
  FROM generate_series(1, 1000) n;

  INSERT INTO task_state (project, task_id, status, priority, unmet, blockers, dependents, fencing_token)
  SELECT 'sample-' || n % 150, 'task-' || n, 1 + n % 4, n % 3, n % 4, 3, 3, n % 5 FROM generate_series(1, 1000) n;

  INSERT INTO dependency (project, task_id, blocker_id, accept_dropped)
  SELECT 'sample-' || n % 150, 'task-' || n, 'task-' || (n + k) % 1000, false
  FROM generate_series(1, 1000) n, generate_series(1, 3) k;

  INSERT INTO queue (project, task_id, standing, priority, plan_id, plan_order, seq, labels, assignee)
  SELECT 'sample-' || n % 150, 'task-' || n, 1 + n % 2, n % 3, CASE WHEN n % 2 = 0 THEN 'plan-' || n % 20 END, n, n, '{}',
    CASE WHEN n % 50 = 0 THEN 'principal-' || n % 4 END
  FROM generate_series(1, 1000) n;

  INSERT INTO lease (project, id, task_id, fencing_token, principal, execution_id, attempt, granted_at, ttl, sweep_at,
    "end", ended_at, expires_at)
  SELECT 'sample-' || n % 150, 'lease-' || n || '-' || token, 'task-' || n, token, 'principal-' || n % 4, 'run-' || n % 40, token,
    n, 60000000, n, CASE WHEN token < 3 OR n % 20 > 0 THEN 2 + n % 4 END, CASE WHEN token < 3 OR n % 20 > 0 THEN n END, n
  FROM generate_series(1, 1000) n, generate_series(1, 3) token;

  INSERT INTO note (project, task_id, id, author, text, created_at)
  SELECT 'sample-' || n % 150, 'task-' || n, 'note-' || n || '-' || k, 'principal-' || n % 4, 'text', n
  FROM generate_series(1, 1000) n, generate_series(1, 2) k;

  ANALYZE task, task_state, dependency, queue, lease, note;
  -- In a subtransaction, or tables of this same transaction are emptied in place, and known to be empty then.
  BEGIN
    TRUNCATE task, task_state, dependency, queue, queue_label, lease, note RESTART IDENTITY;
  EXCEPTION WHEN OTHERS THEN
    RAISE;
  END;
END $$;
