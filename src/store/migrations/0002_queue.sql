CREATE TABLE "dependency" (
	"project" text NOT NULL,
	"task_id" text NOT NULL,
	"blocker_id" text NOT NULL,
	"accept_dropped" boolean NOT NULL,
	CONSTRAINT "dependency_project_task_id_blocker_id_pk" PRIMARY KEY("project","task_id","blocker_id")
);
--> statement-breakpoint
CREATE TABLE "queue" (
	"project" text NOT NULL,
	"task_id" text NOT NULL,
	"standing" smallint NOT NULL,
	"priority" integer NOT NULL,
	"plan_id" text,
	"plan_order" integer NOT NULL,
	"seq" bigint NOT NULL,
	"labels" text[] NOT NULL,
	"assignee" text,
	CONSTRAINT "queue_project_task_id_pk" PRIMARY KEY("project","task_id")
);
--> statement-breakpoint
ALTER TABLE "plan" ADD COLUMN "version" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "project" ADD COLUMN "graph_version" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "task_state" ADD COLUMN "blockers" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "task_state" ADD COLUMN "dependents" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "dependency_blocker" ON "dependency" USING btree ("project","blocker_id","task_id");--> statement-breakpoint
CREATE INDEX "queue_ready" ON "queue" USING btree ("project","priority" DESC NULLS FIRST,"plan_order","seq") WHERE "queue"."standing" = 1;--> statement-breakpoint
CREATE INDEX "queue_ready_plan" ON "queue" USING btree ("project","plan_id","priority" DESC NULLS FIRST,"plan_order","seq") WHERE "queue"."standing" = 1 AND "queue"."plan_id" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "queue_ready_assignee" ON "queue" USING btree ("project","assignee","priority" DESC NULLS FIRST,"plan_order","seq") WHERE "queue"."standing" = 1 AND "queue"."assignee" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "queue_ready_labels" ON "queue" USING gin ("labels") WHERE "queue"."standing" = 1 AND "queue"."labels" <> '{}';--> statement-breakpoint
CREATE INDEX "queue_not_ready" ON "queue" USING btree ("project","standing","seq") WHERE "queue"."standing" <> 1;--> statement-breakpoint
CREATE INDEX "task_parent" ON "task" USING btree ("project","parent_id") WHERE "task"."parent_id" IS NOT NULL;