ALTER TABLE "token" ADD COLUMN "made_for" smallint;--> statement-breakpoint
CREATE INDEX "token_expires" ON "token" USING btree ("expires_at") WHERE "token"."expires_at" IS NOT NULL;