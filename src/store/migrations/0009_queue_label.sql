CREATE TABLE "queue_label" (
	"project" text NOT NULL,
	"label" text NOT NULL,
	"task_id" text NOT NULL,
	"standing" smallint NOT NULL,
	"priority" integer NOT NULL,
	"plan_order" integer NOT NULL,
	"seq" bigint NOT NULL
);
--> statement-breakpoint
DROP INDEX "queue_ready";--> statement-breakpoint
DROP INDEX "queue_ready_plan";--> statement-breakpoint
DROP INDEX "queue_ready_assignee";--> statement-breakpoint
DROP INDEX "queue_ready_labels";--> statement-breakpoint
DROP INDEX "queue_not_ready";--> statement-breakpoint
CREATE UNIQUE INDEX "queue_label_order" ON "queue_label" USING btree ("project","label","standing","priority" DESC NULLS FIRST,"plan_order","seq");--> statement-breakpoint
CREATE INDEX "queue_order" ON "queue" USING btree ("project","standing","priority" DESC NULLS FIRST,"plan_order","seq");--> statement-breakpoint
CREATE INDEX "queue_plan" ON "queue" USING btree ("project","plan_id","standing","priority" DESC NULLS FIRST,"plan_order","seq") WHERE "queue"."plan_id" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "queue_assignee" ON "queue" USING btree ("project","assignee","standing","priority" DESC NULLS FIRST,"plan_order","seq") WHERE "queue"."assignee" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "queue_several_labels" ON "queue" USING gin ("labels") WHERE "queue"."standing" = 1 AND cardinality("queue"."labels") > 1;