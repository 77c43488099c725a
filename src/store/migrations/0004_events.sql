DROP INDEX "event_task";--> statement-breakpoint
ALTER TABLE "event" DROP CONSTRAINT "event_project_id_pk";--> statement-breakpoint
CREATE INDEX "event_task" ON "event" USING btree ("project","task_id","position");