import { sql } from 'drizzle-orm';
import {
  foreignKey,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  smallint,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { int64, micros } from './schema.js';

/** What people are notified of and webhooks are sent; the other tables are in schema.ts. */

/** An event, kept apart from the history: a notification must outlive the pruning of its event. */
const keptEvent = () => ({
  position: int64('position').notNull(),
  kind: smallint('kind').notNull(),
  at: micros('at').notNull(),
  taskId: text('task_id'),
  actor: text('actor'),
  actorKind: smallint('actor_kind'),
  executionId: text('execution_id'),
  fencingToken: int64('fencing_token'),
  payload: jsonb('payload').notNull(),
});

/** Up to which position the history has been turned into notifications and deliveries. */
export const notificationHead = pgTable('notification_head', {
  project: text('project').primaryKey(),
  position: int64('position').notNull(),
});

/** The inboxes: one row for each person and event. */
export const notification = pgTable(
  'notification',
  {
    project: text('project').notNull(),
    /** The project of the person's token: another one only for an owner, who is on every project. */
    tokenProject: text('token_project').notNull(),
    principal: text('principal').notNull(),
    id: text('id').notNull().default(sql`gen_random_uuid()::text`),
    ...keptEvent(),
    acknowledgedAt: micros('acknowledged_at'),
  },
  (t) => [
    primaryKey({ columns: [t.project, t.tokenProject, t.principal, t.position] }),
    uniqueIndex('notification_id').on(t.project, t.id),
    index('notification_unread')
      .on(t.project, t.tokenProject, t.principal, t.position)
      .where(sql`${t.acknowledgedAt} IS NULL`),
    index('notification_read').on(t.acknowledgedAt).where(sql`${t.acknowledgedAt} IS NOT NULL`),
  ],
);

export const webhook = pgTable(
  'webhook',
  {
    project: text('project').notNull(),
    id: text('id').notNull(),
    url: text('url').notNull(),
    /** As it is and not hashed: it signs. Read by the statement that claims deliveries, and by no other. */
    secret: text('secret').notNull(),
    createdAt: micros('created_at').notNull(),
    /** How many deliveries were given up. */
    dead: integer('dead').notNull().default(0),
    lastError: text('last_error').notNull().default(''),
    /** Since when deliveries are given up: told once, until one gets through again. */
    failedAt: micros('failed_at'),
    /** When the receiver said that it wants no more. */
    goneAt: micros('gone_at'),
  },
  (t) => [primaryKey({ columns: [t.project, t.id] })],
);

/** The outbox: what is still to be delivered. A row goes when it was delivered or given up. */
export const webhookDelivery = pgTable(
  'webhook_delivery',
  {
    project: text('project').notNull(),
    webhookId: text('webhook_id').notNull(),
    ...keptEvent(),
    taskId: text('task_id').notNull(),
    /** The same in every attempt, so that a receiver can tell a repetition. */
    messageId: text('message_id').notNull().default(sql`'msg_' || replace(gen_random_uuid()::text, '-', '')`),
    createdAt: micros('created_at').notNull(),
    /** When the next attempt is due; during an attempt, when another replica may take it over. */
    dueAt: micros('due_at').notNull(),
    /** Attempts begun: whoever settles one names it, so that one that was taken over settles nothing. */
    attempts: integer('attempts').notNull().default(0),
  },
  (t) => [
    primaryKey({ columns: [t.project, t.webhookId, t.position] }),
    foreignKey({ columns: [t.project, t.webhookId], foreignColumns: [webhook.project, webhook.id] }).onDelete(
      'cascade',
    ),
    index('webhook_delivery_due').on(t.project, t.webhookId, t.dueAt, t.position),
    index('webhook_delivery_task').on(t.project, t.webhookId, t.taskId, t.position),
  ],
);
