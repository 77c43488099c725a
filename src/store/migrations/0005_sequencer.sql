-- As before, but it finds the pending events by the index of those alone: events have no primary key any more.
-- The sequencer: gives committed events their positions, dense in each project, in the order of their ids.
-- The advisory lock comes first and the snapshot after it (hence VOLATILE and not one statement), so that
-- two callers never number from the same head. Answers how many it numbered; the caller repeats while
-- a batch was full.
CREATE OR REPLACE FUNCTION holdfast_sequence(batch integer) RETURNS integer LANGUAGE plpgsql VOLATILE
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
    FROM placed WHERE e.id = placed.id AND e.position IS NULL
    RETURNING 1
  )
  SELECT count(*) INTO numbered FROM done;
  IF numbered > 0 THEN
    PERFORM pg_notify('holdfast_history', '');
  END IF;
  RETURN numbered;
END
$$;
