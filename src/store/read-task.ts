import type { Snapshot } from '../domain/decision.js';
import type { NamedLease } from '../domain/lease-end.js';
import type { Settings } from '../domain/settings.js';
import type { Task } from '../domain/task.js';
import { enforcementCodes, leaseEndCodes } from './codes.js';
import type { RememberedRequest, RequestKey } from './requests.js';
import type { Store } from './store.js';
import { maybeMicros, micros, type Row, SELECT_STATE, SELECT_TASK, stateOf, taskOf } from './task-row.js';

/** What to read along with a task, in the same statement and so of the same moment. */
export interface ReadAlong {
  /** The lease that a proof or a renewal names. */
  readonly leaseId?: string | undefined;
  /** Whether this execution was ended. */
  readonly execution?: { readonly principal: string; readonly id: string } | undefined;
  /** Whether this request was applied before. */
  readonly request?: RequestKey | undefined;
}

/** One consistent read of a task. */
export interface TaskRead extends Snapshot {
  readonly task: Task;
  /** The named lease, when the project has it; perhaps on another task. */
  readonly namedLease: NamedLease | undefined;
  readonly execution: 'UNKNOWN' | 'RUNNING' | 'ENDED';
}

export interface ReadResult {
  readonly found: TaskRead | undefined;
  readonly request: RememberedRequest | undefined;
}

/** The select list of `project p` as {@link settingsOf} reads it. */
export const SELECT_SETTINGS = 'p.enforcement, p.default_ttl, p.max_ttl, p.max_age, p.max_expiries';

export function settingsOf(row: Row, defaults: Settings): Settings {
  const maxTtl = maybeMicros(row.max_ttl) ?? defaults.maxTtl;
  return {
    enforcement:
      row.enforcement === null ? defaults.enforcement : enforcementCodes.name(row.enforcement as number),
    defaultTtl: Math.min(maybeMicros(row.default_ttl) ?? defaults.defaultTtl, maxTtl),
    maxTtl,
    maxAge: maybeMicros(row.max_age) ?? defaults.maxAge,
    maxExpiries: (row.max_expiries as number | null) ?? defaults.maxExpiries,
  };
}

/**
 * Reads a task without a lock: step one of every mutation, and all that a refusal costs. Without a task id,
 * the task of the named lease is meant.
 */
export async function readTask(
  { database: { sql }, defaults }: Store,
  project: string,
  taskId: string | undefined,
  { leaseId, execution, request }: ReadAlong = {},
): Promise<ReadResult> {
  const [row] = await sql<Row[]>`
    SELECT holdfast_now() AS now, ${sql.unsafe(SELECT_SETTINGS)},
      ${sql.unsafe(SELECT_STATE)}, ${sql.unsafe(SELECT_TASK)},
      l.id AS l_id, l.task_id AS l_task_id, l.fencing_token AS l_fencing_token, l.principal AS l_principal,
      l."end" AS l_end, x.id AS execution_id, x.ended_at AS execution_ended_at,
      r.ref AS request_ref, encode(r.body_hash, 'hex') AS request_body_hash
    FROM project p
    LEFT JOIN lease l ON l.project = p.id AND l.id = ${leaseId ?? null}
    LEFT JOIN task_state s ON s.project = p.id AND s.task_id = coalesce(${taskId ?? null}, l.task_id)
    LEFT JOIN task t ON t.project = s.project AND t.id = s.task_id
    LEFT JOIN execution x ON x.project = p.id AND x.principal = ${execution?.principal ?? null} AND x.id = ${execution?.id ?? null}
    LEFT JOIN request r ON r.project = p.id AND r.principal = ${request?.principal ?? null}
      AND r.rpc = ${request?.rpc ?? null} AND r.request_id = ${request?.requestId ?? null}
    WHERE p.id = ${project}`;
  if (!row) return { found: undefined, request: undefined };
  return {
    found:
      row.s_task_id === null
        ? undefined
        : {
            now: micros(row.now),
            state: stateOf(row),
            task: taskOf(row),
            settings: settingsOf(row, defaults),
            namedLease:
              row.l_id === null
                ? undefined
                : {
                    id: row.l_id as string,
                    taskId: row.l_task_id as string,
                    fencingToken: row.l_fencing_token as bigint,
                    principal: row.l_principal as string,
                    end: row.l_end === null ? undefined : leaseEndCodes.name(row.l_end as number),
                  },
            execution:
              row.execution_id === null ? 'UNKNOWN' : row.execution_ended_at === null ? 'RUNNING' : 'ENDED',
          },
    request:
      row.request_ref === null
        ? undefined
        : { ref: row.request_ref as string, sameBody: row.request_body_hash === request?.bodyHash },
  };
}
