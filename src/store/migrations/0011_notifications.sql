CREATE TABLE "notification" (
	"project" text NOT NULL,
	"token_project" text NOT NULL,
	"principal" text NOT NULL,
	"id" text DEFAULT gen_random_uuid()::text NOT NULL,
	"position" bigint NOT NULL,
	"kind" smallint NOT NULL,
	"at" bigint NOT NULL,
	"task_id" text,
	"actor" text,
	"actor_kind" smallint,
	"execution_id" text,
	"fencing_token" bigint,
	"payload" jsonb NOT NULL,
	"acknowledged_at" bigint,
	CONSTRAINT "notification_project_token_project_principal_position_pk" PRIMARY KEY("project","token_project","principal","position")
);
--> statement-breakpoint
CREATE TABLE "notification_head" (
	"project" text PRIMARY KEY NOT NULL,
	"position" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhook" (
	"project" text NOT NULL,
	"id" text NOT NULL,
	"url" text NOT NULL,
	"secret" text NOT NULL,
	"created_at" bigint NOT NULL,
	"dead" integer DEFAULT 0 NOT NULL,
	"last_error" text DEFAULT '' NOT NULL,
	"failed_at" bigint,
	"gone_at" bigint,
	CONSTRAINT "webhook_project_id_pk" PRIMARY KEY("project","id")
);
--> statement-breakpoint
CREATE TABLE "webhook_delivery" (
	"project" text NOT NULL,
	"webhook_id" text NOT NULL,
	"position" bigint NOT NULL,
	"kind" smallint NOT NULL,
	"at" bigint NOT NULL,
	"task_id" text NOT NULL,
	"actor" text,
	"actor_kind" smallint,
	"execution_id" text,
	"fencing_token" bigint,
	"payload" jsonb NOT NULL,
	"message_id" text DEFAULT 'msg_' || replace(gen_random_uuid()::text, '-', '') NOT NULL,
	"created_at" bigint NOT NULL,
	"due_at" bigint NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "webhook_delivery_project_webhook_id_position_pk" PRIMARY KEY("project","webhook_id","position")
);
--> statement-breakpoint
ALTER TABLE "webhook_delivery" ADD CONSTRAINT "webhook_delivery_project_webhook_id_webhook_project_id_fk" FOREIGN KEY ("project","webhook_id") REFERENCES "public"."webhook"("project","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "notification_id" ON "notification" USING btree ("project","id");--> statement-breakpoint
CREATE INDEX "notification_unread" ON "notification" USING btree ("project","token_project","principal","position") WHERE "notification"."acknowledged_at" IS NULL;--> statement-breakpoint
CREATE INDEX "notification_read" ON "notification" USING btree ("acknowledged_at") WHERE "notification"."acknowledged_at" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "webhook_delivery_due" ON "webhook_delivery" USING btree ("project","webhook_id","due_at","position");--> statement-breakpoint
CREATE INDEX "webhook_delivery_task" ON "webhook_delivery" USING btree ("project","webhook_id","task_id","position");--> statement-breakpoint
CREATE INDEX "event_notified" ON "event" USING btree ("project","position") WHERE "event"."kind" IN (7, 18, 29);--> statement-breakpoint
CREATE INDEX "token_owner" ON "token" USING btree ("project") WHERE "token"."owner";--> statement-breakpoint
-- What happened before notifications were there is not told.
INSERT INTO notification_head (project, position) SELECT project, position FROM history_head;
