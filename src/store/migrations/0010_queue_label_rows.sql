-- Keeps queue_label as queue says. A trigger, since it sees the row as it was and as it is: a statement that waited for
-- a lock may have read an older one. It is called for tasks with labels alone.
-- One plan for all calls, since planning anew each time took a third of its time; and as that plan may be made while
-- the table is small, no sequential scans.
CREATE FUNCTION holdfast_queue_label() RETURNS trigger LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.labels = NEW.labels THEN
    UPDATE queue_label SET standing = NEW.standing, priority = NEW.priority, plan_order = NEW.plan_order
    WHERE project = OLD.project AND label = ANY (OLD.labels) AND standing = OLD.standing
      AND priority = OLD.priority AND plan_order = OLD.plan_order AND seq = OLD.seq;
    RETURN NULL;
  END IF;
  IF TG_OP <> 'INSERT' THEN
    DELETE FROM queue_label
    WHERE project = OLD.project AND label = ANY (OLD.labels) AND standing = OLD.standing
      AND priority = OLD.priority AND plan_order = OLD.plan_order AND seq = OLD.seq;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO queue_label (project, label, task_id, standing, priority, plan_order, seq)
    SELECT DISTINCT NEW.project, label, NEW.task_id, NEW.standing, NEW.priority, NEW.plan_order, NEW.seq
    FROM unnest(NEW.labels) label;
  END IF;
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER queue_label_insert AFTER INSERT ON queue FOR EACH ROW
WHEN (NEW.labels <> '{}') EXECUTE FUNCTION holdfast_queue_label();
--> statement-breakpoint
CREATE TRIGGER queue_label_update AFTER UPDATE ON queue FOR EACH ROW
WHEN ((OLD.labels <> '{}' OR NEW.labels <> '{}')
  AND (OLD.standing, OLD.priority, OLD.plan_order, OLD.labels) IS DISTINCT FROM
    (NEW.standing, NEW.priority, NEW.plan_order, NEW.labels))
EXECUTE FUNCTION holdfast_queue_label();
--> statement-breakpoint
CREATE TRIGGER queue_label_delete AFTER DELETE ON queue FOR EACH ROW
WHEN (OLD.labels <> '{}') EXECUTE FUNCTION holdfast_queue_label();
--> statement-breakpoint
INSERT INTO queue_label (project, label, task_id, standing, priority, plan_order, seq)
SELECT DISTINCT project, label, task_id, standing, priority, plan_order, seq FROM queue CROSS JOIN unnest(labels) label;
