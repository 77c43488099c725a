-- The clock: microseconds since 1970. Every deadline is compared with this and nothing else. Tests replace it.
CREATE FUNCTION holdfast_now() RETURNS bigint LANGUAGE sql VOLATILE PARALLEL SAFE
AS $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint $$;
--> statement-breakpoint
-- The sequencer: gives committed events their positions, dense in each project, in the order of their ids.
-- The advisory lock comes first and the snapshot after it (hence VOLATILE and not one statement), so that
-- two callers never number from the same head. Answers how many it numbered; the caller repeats while
-- a batch was full.
CREATE FUNCTION holdfast_sequence(batch integer) RETURNS integer LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  numbered integer;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('holdfast.sequencer', 0));
  WITH pending AS (
    SELECT project, id FROM event WHERE position IS NULL ORDER BY id LIMIT batch
  ), placed AS (
    SELECT p.project, p.id,
           coalesce(h.position, 0) + row_number() OVER (PARTITION BY p.project ORDER BY p.id) AS position
    FROM pending p LEFT JOIN history_head h ON h.project = p.project
  ), moved AS (
    INSERT INTO history_head (project, position)
    SELECT project, max(position) FROM placed GROUP BY project
    ON CONFLICT (project) DO UPDATE SET position = excluded.position
  ), done AS (
    UPDATE event e SET position = placed.position
    FROM placed WHERE e.project = placed.project AND e.id = placed.id
    RETURNING 1
  )
  SELECT count(*) INTO numbered FROM done;
  IF numbered > 0 THEN
    PERFORM pg_notify('holdfast_history', '');
  END IF;
  RETURN numbered;
END
$$;
--> statement-breakpoint
-- Room for heap-only updates of the row that every renewal rewrites, and eager cleaning behind them.
ALTER TABLE task_state SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200);
--> statement-breakpoint
INSERT INTO meta (epoch) VALUES (gen_random_uuid()::text);
--> statement-breakpoint
INSERT INTO project (id, title, created_at) VALUES ('default', 'default', holdfast_now());
--> statement-breakpoint
INSERT INTO event (project, kind, at, payload)
VALUES ('default', 25, holdfast_now(), '{"title": "default", "changes": []}');
