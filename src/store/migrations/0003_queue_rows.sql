-- What is unfinished goes into the queue.
INSERT INTO queue (project, task_id, standing, priority, plan_id, plan_order, seq, labels, assignee)
SELECT t.project, t.id, CASE s.status WHEN 5 THEN 4 WHEN 2 THEN 3 ELSE 1 END,
  s.priority, t.plan_id, t.plan_order, t.seq, t.labels, t.assignee
FROM task t JOIN task_state s ON s.project = t.project AND s.task_id = t.id
WHERE s.status IN (1, 2, 5);
