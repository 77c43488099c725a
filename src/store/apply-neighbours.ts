/** The edges of the tasks that propagate: who waits for them and, when they go, whom they wait for. */
export const EDGES = `, edge AS MATERIALIZED (
      SELECT c.i, d.project, d.task_id AS other, 'dependent' AS side, d.accept_dropped
      FROM change c CROSS JOIN LATERAL (
        SELECT * FROM dependency d WHERE d.project = c.project AND d.blocker_id = c.task_id OFFSET 0) d
      UNION ALL
      SELECT c.i, d.project, d.blocker_id, 'blocker', d.accept_dropped
      FROM change c CROSS JOIN LATERAL (
        SELECT * FROM dependency d WHERE d.project = c.project AND d.task_id = c.task_id OFFSET 0) d
      WHERE c.remove
    )`;

/** An edge is satisfied by DONE, and by DROPPED if it accepts that. */
const SATISFIED = (status: string) =>
  `CASE WHEN ${status} = 3 OR (${status} = 4 AND edge.accept_dropped) THEN 1 ELSE 0 END`;

/** The counts of the tasks at the other ends, the events that tell of them, and how they stand in the queue. */
export const NEIGHBOURS = `, effect AS MATERIALIZED (
      SELECT edge.project, edge.other, max(go.t) AS t,
        sum(CASE WHEN edge.side = 'dependent' THEN ${SATISFIED('go.was_status')}
          - CASE WHEN go.remove THEN 1 ELSE ${SATISFIED('coalesce(go.status, go.was_status)')} END
          ELSE 0 END)::integer AS unmet,
        sum(CASE WHEN go.remove AND edge.side = 'dependent' THEN 1 ELSE 0 END)::integer AS lost_blockers,
        sum(CASE WHEN edge.side = 'blocker' THEN 1 ELSE 0 END)::integer AS lost_dependents
      FROM edge JOIN go ON go.i = edge.i GROUP BY edge.project, edge.other
    ), neighbour AS (
      UPDATE task_state s SET unmet = s.unmet + e.unmet, blockers = s.blockers - e.lost_blockers,
        dependents = s.dependents - e.lost_dependents, deps_version = s.deps_version + 1
      FROM effect e WHERE s.project = e.project AND s.task_id = e.other
        AND (e.unmet <> 0 OR e.lost_blockers <> 0 OR e.lost_dependents <> 0)
      RETURNING s.project, s.task_id, s.status, s.priority, s.fencing_token, e.t, e.lost_blockers,
        CASE WHEN s.unmet > 0 THEN 2 ELSE 1 END AS standing,
        s.status = 1 AND s.unmet = 0 AND e.unmet < 0 AS readied
    ), neighbour_moved AS (
      UPDATE queue q SET standing = n.standing
      FROM neighbour n WHERE n.status = 1 AND q.project = n.project AND q.task_id = n.task_id
      RETURNING q.project, q.task_id
    ), neighbour_queued AS (
      -- The row of a task that was reopened while this waited for its lock is younger than the snapshot: the update
      -- has not seen it.
      INSERT INTO queue (project, task_id, standing, priority, plan_id, plan_order, seq, labels, assignee)
      SELECT n.project, n.task_id, n.standing, n.priority, t.plan_id, t.plan_order, t.seq, t.labels, t.assignee
      FROM neighbour n CROSS JOIN LATERAL (
        SELECT * FROM task t WHERE t.project = n.project AND t.id = n.task_id OFFSET 0) t
      WHERE n.status = 1 AND (n.project, n.task_id) NOT IN (SELECT project, task_id FROM neighbour_moved)
      ON CONFLICT (project, task_id) DO UPDATE SET standing = excluded.standing
    ), neighbour_told AS (
      -- One insert, since several have no order: the removal comes before what came of it.
      INSERT INTO event (project, kind, at, task_id, actor, actor_kind, execution_id, fencing_token, payload)
      SELECT * FROM (
        SELECT edge.project, 12 AS kind, go.t, edge.other, go.actor, go.actor_kind, go.actor_execution, n.fencing_token,
          jsonb_build_object('blockedBy', go.task_id, 'acceptDropped', edge.accept_dropped)
        FROM edge JOIN go ON go.i = edge.i AND go.remove
        JOIN neighbour n ON n.project = edge.project AND n.task_id = edge.other
        WHERE edge.side = 'dependent'
        UNION ALL
        SELECT project, 3, t, task_id, NULL, NULL, NULL, fencing_token,
          jsonb_build_object('cause', CASE WHEN lost_blockers > 0 THEN 'DEPENDENCY_REMOVED' ELSE 'DEPENDENCY_MET' END)
        FROM neighbour WHERE readied
      ) told ORDER BY other, kind DESC
    )`;

/** The tasks that became ready by it. */
export const READIED = `(SELECT coalesce(json_agg(task_id ORDER BY task_id), '[]') FROM neighbour WHERE readied)`;

const STANDING =
  'CASE s.s_status WHEN 5 THEN 4 WHEN 2 THEN 3 ELSE CASE WHEN s.s_unmet > 0 THEN 2 ELSE 1 END END';

/** How the changed tasks stand in the queue while they are unfinished. */
export const QUEUED = `, queued AS (
      UPDATE queue q SET standing = ${STANDING}, priority = s.s_priority,
        labels = CASE WHEN s.content ? 'labels'
          THEN ARRAY(SELECT jsonb_array_elements_text(s.content->'labels')) ELSE q.labels END,
        assignee = CASE WHEN s.content ? 'assignee' THEN nullif(s.content->>'assignee', '') ELSE q.assignee END
      FROM state s
      WHERE s.stands_anew AND s.s_status NOT IN (3, 4) AND q.project = s.project AND q.task_id = s.s_task_id
    )`;

/** Finished and deleted tasks are gone from the queue. */
export const DEQUEUED = `, dequeued AS (
      DELETE FROM queue q USING go
      WHERE q.project = go.project AND q.task_id = go.task_id AND (go.status IN (3, 4) OR go.remove)
    )`;

/** Reopened ones are back, by the content as it is: the update sees what was committed while it waited. */
export const REQUEUED = `, requeued AS (
      INSERT INTO queue (project, task_id, standing, priority, plan_id, plan_order, seq, labels, assignee)
      SELECT s.project, s.s_task_id, ${STANDING}, s.s_priority, t.plan_id, t.plan_order, t.seq, t.labels, t.assignee
      FROM state s JOIN content t ON t.project = s.project AND t.id = s.s_task_id
      WHERE s.was_status IN (3, 4) AND s.s_status NOT IN (3, 4)
    )`;
