import type { MessageInitShape } from '@bufbuild/protobuf';
import { EventKind } from '@holdfast/proto/history';
import { ImportAction, type ImportedTaskSchema, type ImportTasksRequestSchema } from '@holdfast/proto/task';
import { afterAll } from 'vitest';
import { connect } from '../support/postgres.js';
import { type Board, type Person, startBoard } from './board.js';

export type Listed = MessageInitShape<typeof ImportedTaskSchema>;
type Options = Omit<MessageInitShape<typeof ImportTasksRequestSchema>, 'tasks' | '$typeName'>;

/** Tasks of a list, each with its line, titled as its key unless it says otherwise. */
export const list = (...tasks: Listed[]): Listed[] =>
  tasks.map((task, n) => ({ line: n + 1, title: task.externalKey ?? 'untitled', ...task }));

/** A board with what tests of imports need. Goes before every key, so that tests do not meet: {@link at}. */
export interface ImportBoard extends Board {
  readonly sql: ReturnType<typeof connect>;
  readonly at: string;
  /** Begins another test, with keys of its own. */
  begin(): void;
  importAs(who: Person, tasks: Listed[], options?: Options): Promise<Imported[]>;
  /** What became of each key. */
  actions(who: Person, tasks: Listed[], options?: Options): Promise<Record<string, string>>;
  taskOf(key: string): Promise<NonNullable<Awaited<ReturnType<Person['tasks']['getTask']>>['task']>>;
  kindsOf(taskId: string): Promise<string[]>;
  /** The counts of edges that are kept, where the edges give others. */
  miscounted(): Promise<readonly unknown[]>;
}

interface Imported {
  readonly key: string;
  readonly action: string;
  readonly error: string;
  readonly line: number;
  readonly taskId: string;
}

export async function startImportBoard(): Promise<ImportBoard> {
  const board = await startBoard();
  const sql = connect(board.service.databaseUrl, { max: 2 });
  afterAll(() => sql.end());
  let tests = 0;
  let at = '';

  const importAs: ImportBoard['importAs'] = async (who, tasks, options = {}) => {
    const keyed = tasks.map(({ $typeName: _, externalKey = '', blockedBy = [], parent, ...task }) => ({
      ...task,
      externalKey: externalKey && at + externalKey,
      blockedBy: blockedBy.map((key) => at + key),
      ...(parent && { parent: at + parent }),
    }));
    const { results } = await who.tasks.importTasks({
      tasks: keyed,
      executionId: who.executionId,
      ...options,
    });
    return results.map(({ externalKey, action, error, line, taskId }) => ({
      key: externalKey.slice(at.length),
      action: ImportAction[action],
      error: error.replaceAll(at, ''),
      line,
      taskId,
    }));
  };
  return {
    ...board,
    sql,
    get at() {
      return at;
    },
    begin() {
      at = `${++tests}:`;
    },
    importAs,
    actions: async (...args) =>
      Object.fromEntries((await importAs(...args)).map(({ key, action }) => [key, action])),
    async taskOf(key) {
      const { task } = await board.viewer.tasks.getTask({ externalKey: at + key });
      if (!task) throw new Error(`no task ${key}`);
      return task;
    },
    kindsOf: async (taskId) =>
      (await board.viewer.history.listHistory({ taskId })).events.map(({ kind }) => EventKind[kind]),
    miscounted: () => sql`
    SELECT * FROM (
      SELECT s.task_id, s.unmet, s.blockers, s.dependents, s.status, q.standing,
        (SELECT count(*) FROM dependency d JOIN task_state b ON b.project = d.project AND b.task_id = d.blocker_id
          WHERE d.project = s.project AND d.task_id = s.task_id
            AND NOT (b.status = 3 OR b.status = 4 AND d.accept_dropped)) AS real_unmet,
        (SELECT count(*) FROM dependency d WHERE d.project = s.project AND d.task_id = s.task_id) AS real_blockers,
        (SELECT count(*) FROM dependency d WHERE d.project = s.project AND d.blocker_id = s.task_id) AS real_dependents
      FROM task t JOIN task_state s ON s.project = t.project AND s.task_id = t.id LEFT JOIN queue q ON q.project = s.project AND q.task_id = s.task_id
      WHERE starts_with(t.external_key, ${at})) c
    WHERE unmet <> real_unmet OR blockers <> real_blockers OR dependents <> real_dependents
      OR (status = 1 AND standing IS DISTINCT FROM CASE WHEN unmet > 0 THEN 2 ELSE 1 END)
      OR (status IN (3, 4) AND standing IS NOT NULL)`,
  };
}
