CREATE TABLE "event" (
	"project" text NOT NULL,
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "event_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"position" bigint,
	"kind" smallint NOT NULL,
	"at" bigint NOT NULL,
	"task_id" text,
	"actor" text,
	"actor_kind" smallint,
	"execution_id" text,
	"fencing_token" bigint,
	"payload" jsonb NOT NULL,
	"once_key" text,
	"repeats" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "event_project_id_pk" PRIMARY KEY("project","id")
);
--> statement-breakpoint
CREATE TABLE "execution" (
	"project" text NOT NULL,
	"principal" text NOT NULL,
	"id" text NOT NULL,
	"ended_at" bigint,
	CONSTRAINT "execution_project_principal_id_pk" PRIMARY KEY("project","principal","id")
);
--> statement-breakpoint
CREATE TABLE "fence" (
	"project" text NOT NULL,
	"external_key" text NOT NULL,
	"fencing_token" bigint NOT NULL,
	CONSTRAINT "fence_project_external_key_pk" PRIMARY KEY("project","external_key")
);
--> statement-breakpoint
CREATE TABLE "history_head" (
	"project" text PRIMARY KEY NOT NULL,
	"position" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "lease" (
	"project" text NOT NULL,
	"id" text NOT NULL,
	"task_id" text NOT NULL,
	"fencing_token" bigint NOT NULL,
	"principal" text NOT NULL,
	"execution_id" text NOT NULL,
	"attempt" integer NOT NULL,
	"granted_at" bigint NOT NULL,
	"ttl" bigint NOT NULL,
	"sweep_at" bigint NOT NULL,
	"end" smallint,
	"ended_at" bigint,
	"expires_at" bigint,
	"ended_by" text,
	"end_reason" text,
	CONSTRAINT "lease_project_id_pk" PRIMARY KEY("project","id")
);
--> statement-breakpoint
CREATE TABLE "meta" (
	"one" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"epoch" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "note" (
	"project" text NOT NULL,
	"task_id" text NOT NULL,
	"seq" bigint GENERATED ALWAYS AS IDENTITY (sequence name "note_seq_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"id" text NOT NULL,
	"author" text NOT NULL,
	"execution_id" text,
	"text" text NOT NULL,
	"created_at" bigint NOT NULL,
	CONSTRAINT "note_project_task_id_seq_pk" PRIMARY KEY("project","task_id","seq")
);
--> statement-breakpoint
CREATE TABLE "plan" (
	"project" text NOT NULL,
	"id" text NOT NULL,
	"title" text NOT NULL,
	"body" text NOT NULL,
	"external_key" text,
	"last_order" integer DEFAULT 0 NOT NULL,
	"created_at" bigint NOT NULL,
	"created_by" text NOT NULL,
	CONSTRAINT "plan_project_id_pk" PRIMARY KEY("project","id")
);
--> statement-breakpoint
CREATE TABLE "principal" (
	"project" text NOT NULL,
	"id" text NOT NULL,
	"kind" smallint NOT NULL,
	CONSTRAINT "principal_project_id_pk" PRIMARY KEY("project","id")
);
--> statement-breakpoint
CREATE TABLE "project" (
	"id" text PRIMARY KEY NOT NULL,
	"title" text NOT NULL,
	"enforcement" smallint,
	"default_ttl" bigint,
	"max_ttl" bigint,
	"max_age" bigint,
	"max_expiries" integer,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "request" (
	"project" text NOT NULL,
	"principal" text NOT NULL,
	"rpc" text NOT NULL,
	"request_id" text NOT NULL,
	"body_hash" "bytea" NOT NULL,
	"ref" text NOT NULL,
	"created_at" bigint NOT NULL,
	CONSTRAINT "request_project_principal_rpc_request_id_pk" PRIMARY KEY("project","principal","rpc","request_id")
);
--> statement-breakpoint
CREATE TABLE "task" (
	"project" text NOT NULL,
	"id" text NOT NULL,
	"seq" bigint GENERATED ALWAYS AS IDENTITY (sequence name "task_seq_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"title" text NOT NULL,
	"body" text NOT NULL,
	"labels" text[] NOT NULL,
	"plan_id" text,
	"plan_order" integer DEFAULT 0 NOT NULL,
	"parent_id" text,
	"external_key" text,
	"assignee" text,
	"result" text,
	"created_at" bigint NOT NULL,
	"created_by" text NOT NULL,
	"updated_at" bigint NOT NULL,
	"closed_at" bigint,
	"closed_by" text,
	CONSTRAINT "task_project_id_pk" PRIMARY KEY("project","id")
);
--> statement-breakpoint
CREATE TABLE "task_state" (
	"project" text NOT NULL,
	"task_id" text NOT NULL,
	"status" smallint NOT NULL,
	"priority" integer NOT NULL,
	"unmet" integer DEFAULT 0 NOT NULL,
	"lease_version" bigint DEFAULT 0 NOT NULL,
	"deps_version" bigint DEFAULT 0 NOT NULL,
	"content_version" bigint DEFAULT 0 NOT NULL,
	"fencing_token" bigint NOT NULL,
	"lease_id" text,
	"principal" text,
	"execution_id" text,
	"granted_at" bigint,
	"expires_at" bigint,
	"ttl" bigint,
	"aged_from" bigint,
	"prev_lease_id" text,
	"prev_principal" text,
	"prev_execution_id" text,
	"prev_token" bigint,
	"prev_end" smallint,
	"prev_ended_at" bigint,
	"attempt" integer DEFAULT 0 NOT NULL,
	"expiries_in_a_row" integer DEFAULT 0 NOT NULL,
	"note_count" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "task_state_project_task_id_pk" PRIMARY KEY("project","task_id")
);
--> statement-breakpoint
CREATE TABLE "token" (
	"project" text NOT NULL,
	"id" text NOT NULL,
	"principal" text NOT NULL,
	"kind" smallint NOT NULL,
	"role" smallint NOT NULL,
	"owner" boolean DEFAULT false NOT NULL,
	"hash" "bytea" NOT NULL,
	"created_at" bigint NOT NULL,
	"expires_at" bigint,
	"revoked_at" bigint,
	"last_used_at" bigint,
	CONSTRAINT "token_project_id_pk" PRIMARY KEY("project","id")
);
--> statement-breakpoint
CREATE UNIQUE INDEX "event_position" ON "event" USING btree ("project","position") WHERE "event"."position" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "event_pending" ON "event" USING btree ("id") WHERE "event"."position" IS NULL;--> statement-breakpoint
CREATE INDEX "event_task" ON "event" USING btree ("project","task_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "event_once" ON "event" USING btree ("project","once_key") WHERE "event"."once_key" IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "event_lease_end" ON "event" USING btree ("project","task_id","fencing_token") WHERE "event"."kind" IN (17, 18, 19);--> statement-breakpoint
CREATE UNIQUE INDEX "lease_token" ON "lease" USING btree ("project","task_id","fencing_token");--> statement-breakpoint
CREATE INDEX "lease_sweep" ON "lease" USING btree ("sweep_at") WHERE "lease"."end" IS NULL;--> statement-breakpoint
CREATE INDEX "lease_holder" ON "lease" USING btree ("project","principal","execution_id") WHERE "lease"."end" IS NULL;--> statement-breakpoint
CREATE INDEX "lease_lost" ON "lease" USING btree ("project","principal","execution_id","ended_at") WHERE "lease"."end" IN (4, 5);--> statement-breakpoint
CREATE UNIQUE INDEX "note_id" ON "note" USING btree ("project","id");--> statement-breakpoint
CREATE UNIQUE INDEX "plan_external_key" ON "plan" USING btree ("project","external_key") WHERE "plan"."external_key" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "request_age" ON "request" USING btree ("created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "task_seq" ON "task" USING btree ("project","seq");--> statement-breakpoint
CREATE UNIQUE INDEX "task_external_key" ON "task" USING btree ("project","external_key") WHERE "task"."external_key" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "task_plan" ON "task" USING btree ("project","plan_id","plan_order") WHERE "task"."plan_id" IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "token_hash" ON "token" USING btree ("hash");