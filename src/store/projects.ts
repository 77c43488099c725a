import { asc, eq, gt } from 'drizzle-orm';
import type { Actor, FieldChange } from '../domain/event.js';
import type { Micros } from '../domain/instant.js';
import type { Settings } from '../domain/settings.js';
import { eventColumns } from './apply-json.js';
import { enforcementCodes } from './codes.js';
import { settingsOf } from './read-task.js';
import { type RequestKey, remembering } from './requests.js';
import { project as projects } from './schema.js';
import type { Store } from './store.js';
import { maybeMicros, micros, type Row } from './task-row.js';

export interface Project {
  readonly id: string;
  readonly title: string;
  /** What was set for it; what is absent is the server's default. */
  readonly own: Partial<Settings>;
  readonly effective: Settings;
  readonly createdAt: Micros;
}

function projectOf(row: Row, defaults: Settings): Project {
  const defaultTtl = maybeMicros(row.default_ttl);
  const maxTtl = maybeMicros(row.max_ttl);
  const maxAge = maybeMicros(row.max_age);
  return {
    id: row.id as string,
    title: row.title as string,
    own: {
      ...(row.enforcement !== null && { enforcement: enforcementCodes.name(row.enforcement as number) }),
      ...(defaultTtl !== undefined && { defaultTtl }),
      ...(maxTtl !== undefined && { maxTtl }),
      ...(maxAge !== undefined && { maxAge }),
      ...(row.max_expiries !== null && { maxExpiries: row.max_expiries as number }),
    },
    effective: settingsOf(row, defaults),
    createdAt: micros(row.created_at),
  };
}

const settingColumns = (settings: Partial<Settings>) => ({
  enforcement: settings.enforcement === undefined ? null : enforcementCodes.code(settings.enforcement),
  default_ttl: settings.defaultTtl ?? null,
  max_ttl: settings.maxTtl ?? null,
  max_age: settings.maxAge ?? null,
  max_expiries: settings.maxExpiries ?? null,
});

/** @throws a DUPLICATE fault for `project_pkey` or the request, which is remembered in the caller's project */
export async function createProject(
  { database: { sql }, defaults, commits }: Store,
  fresh: { id: string; title: string; settings: Partial<Settings> },
  actor: Actor,
  request: (RequestKey & { readonly project: string }) | undefined,
): Promise<Project> {
  const event = eventColumns({
    kind: 'PROJECT_CREATED',
    actor,
    payload: { title: fresh.title, changes: [] },
  });
  const set = settingColumns(fresh.settings);
  const [row] = await sql<Row[]>`
    WITH made AS (
      INSERT INTO project (id, title, enforcement, default_ttl, max_ttl, max_age, max_expiries, created_at)
      VALUES (${fresh.id}, ${fresh.title}, ${set.enforcement}, ${set.default_ttl}, ${set.max_ttl}, ${set.max_age},
        ${set.max_expiries}, holdfast_now())
      RETURNING *
    ), headed AS (
      INSERT INTO history_head (project, position)
      SELECT made.id, meta.counters_from FROM made, meta WHERE meta.counters_from > 0
    ), told AS (
      INSERT INTO event (project, kind, at, actor, actor_kind, execution_id, payload)
      SELECT id, ${event.kind}, created_at, ${actor.principal}, ${event.actor_kind ?? null}, ${actor.executionId ?? null},
        ${JSON.stringify(event.payload)}::text::jsonb
      FROM made
    ), remembered AS (${remembering(sql, request?.project ?? null, request && { ...request, ref: fresh.id }, { made: 'made', at: 'created_at' })}
    )
    SELECT * FROM made`;
  commits.eventsWritten();
  return projectOf(row as Row, defaults);
}

export async function findProject(
  { database: { sql }, defaults }: Store,
  id: string,
): Promise<Project | undefined> {
  const [row] = await sql<Row[]>`SELECT * FROM project WHERE id = ${id}`;
  return row && projectOf(row, defaults);
}

export async function projectExists({ database: { orm } }: Store, id: string): Promise<boolean> {
  const rows = await orm.select({ id: projects.id }).from(projects).where(eq(projects.id, id));
  return rows.length > 0;
}

/** Projects by id, after an id. */
export async function listProjects(
  { database: { sql }, defaults }: Store,
  after: string,
  limit: number,
): Promise<Project[]> {
  const rows = await sql<Row[]>`SELECT * FROM project WHERE id > ${after} ORDER BY id LIMIT ${limit}`;
  return rows.map((row) => projectOf(row, defaults));
}

/**
 * Changes a project's title and those settings that are given, and tells what changed.
 *
 * @param describe the changes for the history, from the project before them
 * @returns undefined when there is no such project
 */
export async function updateProject(
  { database: { sql }, defaults, commits }: Store,
  id: string,
  wanted: { title: string | undefined; settings: Partial<Settings> },
  actor: Actor,
  describe: (before: Project) => readonly FieldChange[],
): Promise<Project | undefined> {
  const set = settingColumns(wanted.settings);
  for (;;) {
    const [beforeRow] = await sql<Row[]>`SELECT *, xmin::text AS version FROM project WHERE id = ${id}`;
    if (!beforeRow) return undefined;
    const before = projectOf(beforeRow, defaults);
    const changes = describe(before);
    if (changes.length === 0) return before;
    const event = eventColumns({
      kind: 'SETTINGS_CHANGED',
      actor,
      payload: { title: wanted.title ?? before.title, changes },
    });
    const [row] = await sql<Row[]>`
      WITH locked AS MATERIALIZED (
        SELECT id, xmin::text AS version FROM project WHERE id = ${id} FOR UPDATE
      ), changed AS (
        UPDATE project p SET
          title = coalesce(${wanted.title ?? null}, title),
          enforcement = coalesce(${set.enforcement}, enforcement),
          default_ttl = coalesce(${set.default_ttl}, default_ttl),
          max_ttl = coalesce(${set.max_ttl}, max_ttl),
          max_age = coalesce(${set.max_age}, max_age),
          max_expiries = coalesce(${set.max_expiries}, max_expiries)
        FROM locked WHERE p.id = locked.id AND locked.version = ${beforeRow.version as string}
        RETURNING p.*
      ), told AS (
        INSERT INTO event (project, kind, at, actor, actor_kind, execution_id, payload)
        SELECT id, ${event.kind}, holdfast_now(), ${actor.principal}, ${event.actor_kind ?? null},
          ${actor.executionId ?? null}, ${JSON.stringify(event.payload)}::text::jsonb
        FROM changed
      )
      SELECT * FROM changed`;
    if (row) {
      commits.eventsWritten();
      return projectOf(row, defaults);
    }
  }
}

/** An operator's look at the database, cheap enough for every probe. */
export async function ping({ database: { orm } }: Store): Promise<void> {
  await orm
    .select({ id: projects.id })
    .from(projects)
    .where(gt(projects.id, ''))
    .orderBy(asc(projects.id))
    .limit(1);
}
