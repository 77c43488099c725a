import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  customType,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  smallint,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import type { Micros } from '../domain/instant.js';

/**
 * The tables. Keys lead with the project, so that a distributed Postgres can shard by it. Instants and
 * spans are bigint microseconds (see domain/instant.ts), so nothing is lost between SQL and TypeScript.
 * Statuses and kinds are small integers named in codes.ts.
 */

export const micros = (name: string) => bigint(name, { mode: 'number' }).$type<Micros>();
export const int64 = (name: string) => bigint(name, { mode: 'bigint' });
const bytes = customType<{ data: Buffer; driverData: Buffer }>({ dataType: () => 'bytea' });

/** One row: what database this is. A restore from backup gets a new epoch. */
export const meta = pgTable('meta', {
  one: boolean('one').primaryKey().default(true),
  epoch: text('epoch').notNull(),
  /**
   * Where counters that are new to the database begin: the tokens of an external key, the positions of a project.
   * Above 0 after a restore, since those that were lost with it may have had the same names.
   */
  countersFrom: int64('counters_from').notNull().default(sql`0`),
});

export const project = pgTable('project', {
  id: text('id').primaryKey(),
  title: text('title').notNull(),
  /** Settings; null means the server's default. */
  enforcement: smallint('enforcement'),
  defaultTtl: micros('default_ttl'),
  maxTtl: micros('max_ttl'),
  maxAge: micros('max_age'),
  maxExpiries: integer('max_expiries'),
  /**
   * Moves with every edge that could close a cycle. Two edges far apart can close one together, and neither
   * touches a task of the other; whoever checks for cycles relies on this instead.
   */
  graphVersion: int64('graph_version').notNull().default(sql`0`),
  createdAt: micros('created_at').notNull(),
});

/** A principal has one kind in a project; its tokens give it roles. */
export const principal = pgTable(
  'principal',
  {
    project: text('project').notNull(),
    id: text('id').notNull(),
    kind: smallint('kind').notNull(),
  },
  (t) => [primaryKey({ columns: [t.project, t.id] })],
);

export const token = pgTable(
  'token',
  {
    project: text('project').notNull(),
    id: text('id').notNull(),
    principal: text('principal').notNull(),
    kind: smallint('kind').notNull(),
    role: smallint('role').notNull(),
    owner: boolean('owner').notNull().default(false),
    /** SHA-256 of the secret: 256 random bits need no slow hash. */
    hash: bytes('hash').notNull(),
    /** Null: an admin asked for it, or somebody is vouched for. */
    madeFor: smallint('made_for'),
    createdAt: micros('created_at').notNull(),
    expiresAt: micros('expires_at'),
    revokedAt: micros('revoked_at'),
    lastUsedAt: micros('last_used_at'),
  },
  (t) => [
    primaryKey({ columns: [t.project, t.id] }),
    uniqueIndex('token_hash').on(t.hash),
    index('token_owner').on(t.project).where(sql`${t.owner}`),
    index('token_expires').on(t.expiresAt).where(sql`${t.expiresAt} IS NOT NULL`),
  ],
);

/** An execution that acquired something. Ending it is what keeps late acquires out. */
export const execution = pgTable(
  'execution',
  {
    project: text('project').notNull(),
    principal: text('principal').notNull(),
    id: text('id').notNull(),
    endedAt: micros('ended_at'),
  },
  (t) => [primaryKey({ columns: [t.project, t.principal, t.id] })],
);

export const plan = pgTable(
  'plan',
  {
    project: text('project').notNull(),
    id: text('id').notNull(),
    title: text('title').notNull(),
    body: text('body').notNull(),
    externalKey: text('external_key'),
    /** The highest plan_order given out. */
    lastOrder: integer('last_order').notNull().default(0),
    /** Moves with every change of the plan itself; `last_order` with every new step. */
    version: integer('version').notNull().default(0),
    createdAt: micros('created_at').notNull(),
    createdBy: text('created_by').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.project, t.id] }),
    uniqueIndex('plan_external_key').on(t.project, t.externalKey).where(sql`${t.externalKey} IS NOT NULL`),
  ],
);

/** A task's content: the wide row, which no decision depends on. */
export const task = pgTable(
  'task',
  {
    project: text('project').notNull(),
    id: text('id').notNull(),
    /** Order of creation: the cursor of ListTasks. */
    seq: bigint('seq', { mode: 'number' }).notNull().generatedAlwaysAsIdentity({ cache: 1 }),
    title: text('title').notNull(),
    body: text('body').notNull(),
    labels: text('labels').array().notNull(),
    planId: text('plan_id'),
    planOrder: integer('plan_order').notNull().default(0),
    parentId: text('parent_id'),
    externalKey: text('external_key'),
    assignee: text('assignee'),
    result: text('result'),
    createdAt: micros('created_at').notNull(),
    createdBy: text('created_by').notNull(),
    updatedAt: micros('updated_at').notNull(),
    closedAt: micros('closed_at'),
    closedBy: text('closed_by'),
  },
  (t) => [
    primaryKey({ columns: [t.project, t.id] }),
    uniqueIndex('task_seq').on(t.project, t.seq),
    uniqueIndex('task_external_key').on(t.project, t.externalKey).where(sql`${t.externalKey} IS NOT NULL`),
    index('task_plan').on(t.project, t.planId, t.planOrder).where(sql`${t.planId} IS NOT NULL`),
    index('task_parent').on(t.project, t.parentId).where(sql`${t.parentId} IS NOT NULL`),
  ],
);

/**
 * All that decisions on a task depend on (domain/task-state.ts). Kept narrow and apart from the content,
 * because after a lock wait Postgres re-reads only the row it locked. Nothing in it but the key is
 * indexed, so every change of it is a heap-only update: with indexes on status or holder, each grant and release
 * left dead index entries behind, and 64 of them took 18 ms instead of 2.
 */
export const taskState = pgTable(
  'task_state',
  {
    project: text('project').notNull(),
    taskId: text('task_id').notNull(),
    status: smallint('status').notNull(),
    priority: integer('priority').notNull(),
    unmet: integer('unmet').notNull().default(0),
    /** How many edges lead from it and to it: whether a change of its status touches others. */
    blockers: integer('blockers').notNull().default(0),
    dependents: integer('dependents').notNull().default(0),
    leaseVersion: int64('lease_version').notNull().default(sql`0`),
    depsVersion: int64('deps_version').notNull().default(sql`0`),
    contentVersion: int64('content_version').notNull().default(sql`0`),
    fencingToken: int64('fencing_token').notNull(),
    leaseId: text('lease_id'),
    principal: text('principal'),
    executionId: text('execution_id'),
    grantedAt: micros('granted_at'),
    expiresAt: micros('expires_at'),
    ttl: micros('ttl'),
    agedFrom: micros('aged_from'),
    prevLeaseId: text('prev_lease_id'),
    prevPrincipal: text('prev_principal'),
    prevExecutionId: text('prev_execution_id'),
    prevToken: int64('prev_token'),
    prevEnd: smallint('prev_end'),
    prevEndedAt: micros('prev_ended_at'),
    attempt: integer('attempt').notNull().default(0),
    expiriesInARow: integer('expiries_in_a_row').notNull().default(0),
    noteCount: integer('note_count').notNull().default(0),
  },
  (t) => [primaryKey({ columns: [t.project, t.taskId] })],
);

/** An edge: `task_id` waits for `blocker_id`. Parenthood is one, too: the parent waits for its child. */
export const dependency = pgTable(
  'dependency',
  {
    project: text('project').notNull(),
    taskId: text('task_id').notNull(),
    blockerId: text('blocker_id').notNull(),
    /** A DROPPED blocker satisfies as well. */
    acceptDropped: boolean('accept_dropped').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.project, t.taskId, t.blockerId] }),
    index('dependency_blocker').on(t.project, t.blockerId, t.taskId),
  ],
);

/**
 * Every unfinished task with what it is sorted and filtered by, and how it stands: what listing and picking
 * ready tasks reads. Written by the statement that changes the task. Its indexes are lists: the tasks of one
 * standing, in the project, a plan or for an assignee, best first.
 */
export const queue = pgTable(
  'queue',
  {
    project: text('project').notNull(),
    taskId: text('task_id').notNull(),
    standing: smallint('standing').notNull(),
    priority: integer('priority').notNull(),
    planId: text('plan_id'),
    planOrder: integer('plan_order').notNull(),
    seq: bigint('seq', { mode: 'number' }).notNull(),
    labels: text('labels').array().notNull(),
    assignee: text('assignee'),
  },
  (t) => [
    primaryKey({ columns: [t.project, t.taskId] }),
    index('queue_order').on(t.project, t.standing, t.priority.desc().nullsFirst(), t.planOrder, t.seq),
    index('queue_plan')
      .on(t.project, t.planId, t.standing, t.priority.desc().nullsFirst(), t.planOrder, t.seq)
      .where(sql`${t.planId} IS NOT NULL`),
    index('queue_assignee')
      .on(t.project, t.assignee, t.standing, t.priority.desc().nullsFirst(), t.planOrder, t.seq)
      .where(sql`${t.assignee} IS NOT NULL`),
    // For the few who ask for labels that many tasks have, but hardly any all of them.
    index('queue_several_labels')
      .using('gin', t.labels)
      .where(sql`${t.standing} = 1 AND cardinality(${t.labels}) > 1`),
  ],
);

/**
 * The same list for each label, as rows, since no index of `queue` can keep the order within a label. A trigger on
 * `queue` writes it: only there are the row before and the row after known for certain.
 */
export const queueLabel = pgTable(
  'queue_label',
  {
    project: text('project').notNull(),
    label: text('label').notNull(),
    taskId: text('task_id').notNull(),
    standing: smallint('standing').notNull(),
    priority: integer('priority').notNull(),
    planOrder: integer('plan_order').notNull(),
    seq: bigint('seq', { mode: 'number' }).notNull(),
  },
  (t) => [
    uniqueIndex('queue_label_order').on(
      t.project,
      t.label,
      t.standing,
      t.priority.desc().nullsFirst(),
      t.planOrder,
      t.seq,
    ),
  ],
);

/**
 * Every lease there ever was, one row a grant. The deadline of a current one is in task_state; `sweep_at` lags
 * behind it, so that renewals touch no index, and is what the sweep looks up.
 */
export const lease = pgTable(
  'lease',
  {
    project: text('project').notNull(),
    id: text('id').notNull(),
    taskId: text('task_id').notNull(),
    fencingToken: int64('fencing_token').notNull(),
    principal: text('principal').notNull(),
    executionId: text('execution_id').notNull(),
    attempt: integer('attempt').notNull(),
    grantedAt: micros('granted_at').notNull(),
    ttl: micros('ttl').notNull(),
    sweepAt: micros('sweep_at').notNull(),
    /** From here on null while it is the current one. */
    end: smallint('end'),
    endedAt: micros('ended_at'),
    expiresAt: micros('expires_at'),
    endedBy: text('ended_by'),
    endReason: text('end_reason'),
  },
  (t) => [
    primaryKey({ columns: [t.project, t.id] }),
    // "Every grant exactly one event": the grant event is written with this row, and this row once a token.
    uniqueIndex('lease_token').on(t.project, t.taskId, t.fencingToken),
    index('lease_sweep').on(t.sweepAt).where(sql`${t.end} IS NULL`),
    index('lease_holder').on(t.project, t.principal, t.executionId).where(sql`${t.end} IS NULL`),
    index('lease_lost').on(t.project, t.principal, t.executionId, t.endedAt).where(sql`${t.end} IN (4, 5)`),
  ],
);

export const note = pgTable(
  'note',
  {
    project: text('project').notNull(),
    taskId: text('task_id').notNull(),
    seq: bigint('seq', { mode: 'number' }).notNull().generatedAlwaysAsIdentity({ cache: 1 }),
    id: text('id').notNull(),
    author: text('author').notNull(),
    executionId: text('execution_id'),
    text: text('text').notNull(),
    createdAt: micros('created_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.project, t.taskId, t.seq] }), uniqueIndex('note_id').on(t.project, t.id)],
);

/** Where the fencing counter of an external key goes on when its task was deleted and is created again. */
export const fence = pgTable(
  'fence',
  {
    project: text('project').notNull(),
    externalKey: text('external_key').notNull(),
    fencingToken: int64('fencing_token').notNull(),
  },
  (t) => [primaryKey({ columns: [t.project, t.externalKey] })],
);

/** The history. `position` is null until the sequencer has numbered the committed event. */
export const event = pgTable(
  'event',
  {
    project: text('project').notNull(),
    /** Drawn after the task's row is locked, so that it rises with the commits on one task. */
    id: bigint('id', { mode: 'number' }).notNull().generatedAlwaysAsIdentity({ cache: 1 }),
    position: int64('position'),
    kind: smallint('kind').notNull(),
    at: micros('at').notNull(),
    taskId: text('task_id'),
    actor: text('actor'),
    actorKind: smallint('actor_kind'),
    executionId: text('execution_id'),
    fencingToken: int64('fencing_token'),
    payload: jsonb('payload').notNull(),
    /** Same key, same event: repeats are counted on it. */
    onceKey: text('once_key'),
    repeats: integer('repeats').notNull().default(0),
  },
  // No primary key: the sequencer finds rows by event_pending, everybody else by position, and every index is written
  // twice for an event.
  (t) => [
    uniqueIndex('event_position').on(t.project, t.position).where(sql`${t.position} IS NOT NULL`),
    index('event_pending').on(t.id).where(sql`${t.position} IS NULL`),
    index('event_task').on(t.project, t.taskId, t.position),
    // What the write guard found fault with: few events among many, for the enforcement report.
    index('event_guarded').on(t.project, t.at).where(sql`${t.kind} IN (21, 22)`),
    // What people are notified of, see notifications.ts.
    index('event_notified').on(t.project, t.position).where(sql`${t.kind} IN (7, 18, 29)`),
    uniqueIndex('event_once').on(t.project, t.onceKey).where(sql`${t.onceKey} IS NOT NULL`),
    // "Every lease has exactly one end event", as a constraint.
    uniqueIndex('event_lease_end')
      .on(t.project, t.taskId, t.fencingToken)
      .where(sql`${t.kind} IN (17, 18, 19)`),
  ],
);

/** The last position given out, written only by the sequencer, and the last one that is no longer kept. */
export const historyHead = pgTable('history_head', {
  project: text('project').primaryKey(),
  position: int64('position').notNull(),
  floor: int64('floor').notNull().default(sql`0`),
});

/** What was applied under a request_id, by reference, for 24 hours. */
export const request = pgTable(
  'request',
  {
    project: text('project').notNull(),
    principal: text('principal').notNull(),
    rpc: text('rpc').notNull(),
    requestId: text('request_id').notNull(),
    bodyHash: bytes('body_hash').notNull(),
    /** The id of what was made or leased. */
    ref: text('ref').notNull(),
    createdAt: micros('created_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.project, t.principal, t.rpc, t.requestId] }),
    index('request_age').on(t.createdAt),
  ],
);
