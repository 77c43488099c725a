import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  ImportAction,
  type ImportResultSchema,
  type ImportTasksRequest,
  type TaskService,
} from '@holdfast/proto/task';
import { actorOf } from '../domain/write.js';
import { Contention, constraintOf, faultOf } from '../store/database-error.js';
import { recordEvent } from '../store/events.js';
import { type BroughtTask, createTasks } from '../store/import-create.js';
import { createPlan } from '../store/plans.js';
import { claimRequest } from '../store/requests.js';
import type { Api, ServiceFunctions } from './api.js';
import { type Call, earlier, repeated } from './call.js';
import { newId } from './ids.js';
import { amendAll, amends, foreseen } from './import-amend.js';
import { type Draft, draftOf, type Import, type Refused } from './import-draft.js';
import { listedTask, wantedContent } from './import-records.js';
import { invalidArgument, problemError } from './problems.js';

type Functions = ServiceFunctions<typeof TaskService.method>;
type Results = MessageInitShape<typeof ImportResultSchema>[];

const MAX_TRIES = 8;

/** What one call may name in `blocked_by` and `parent`, in all: more takes seconds to check and to count. */
const MAX_EDGES = 10_000;

/**
 * Looks, works out what is to be done, and does it, unless the project has changed meanwhile: then again. What was
 * done before an error is there to be found, so that the same call goes on where it stopped.
 */
export const importTasks: NonNullable<Functions['importTasks']> = async ({ store }, call, request) => {
  await earlier(store, call);
  const work = importOf(store, call, request);
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const draft = await draftOf(work);
    if (draft.faults.some((fault) => fault !== undefined) && !request.allowPartial) {
      return { results: results(work, draft, 'SKIPPED', new Map(), () => '') };
    }
    if (work.dryRun) return { results: results(work, draft, 'FORESEEN', foreseen(work, draft), () => '') };
    const other =
      call.request && (await claimRequest(store.database.sql, call.project, call.request, 'import'));
    if (other) repeated(other);
    const done = await carryOut(work, draft);
    if (done) return { results: done };
  }
  throw new Contention();
};

function importOf(store: Api['store'], call: Call, request: ImportTasksRequest): Import {
  if (request.assumedKeys.length > 0 && !request.dryRun) {
    throw invalidArgument('assumed_keys', 'is for a dry run');
  }
  const edges = request.tasks.reduce(
    (sum, { blockedBy, parent }) => sum + blockedBy.length + (parent ? 1 : 0),
    0,
  );
  if (edges > MAX_EDGES) {
    const have = `have ${edges} entries in blocked_by and parent`;
    throw invalidArgument('tasks', `${have}; at most ${MAX_EDGES} in one call: split the list`);
  }
  return {
    store,
    project: call.project,
    caller: call.caller,
    list: request.tasks.map(listedTask),
    assumed: new Set(request.assumedKeys),
    dryRun: request.dryRun,
    wanted: wantedContent(request),
  };
}

/** @returns undefined when the project has changed since the draft was made, in what the new tasks rely on */
async function carryOut(work: Import, draft: Draft): Promise<Results | undefined> {
  const { store, project } = work;
  const ids = new Map([...draft.present].map(([key, { state }]) => [key, state.taskId]));
  for (const record of draft.fresh) ids.set(work.list[record]?.key ?? '', newId());
  const idOf = (key: string) => ids.get(key) ?? '';
  if (draft.fresh.length > 0 && !(await bring(work, draft, idOf))) return undefined;
  for (const { state, record } of draft.refusals) {
    if (record) await recordEvent(store, project, state.taskId, state.fencingToken, record);
  }
  return results(work, draft, 'DONE', await amendAll(work, draft.amendments, idOf), idOf);
}

/** Creates the plans that are missing and the new tasks. */
async function bring(work: Import, draft: Draft, idOf: (key: string) => string): Promise<boolean> {
  const { store, project, list, caller } = work;
  const planIds = new Map(draft.planIds);
  const tasks = draft.fresh.map((record) => list[record] as Import['list'][number]);
  try {
    for (const { plan, planTitle } of tasks) {
      if (plan === undefined || planIds.has(plan)) continue;
      const made = { id: newId(), title: planTitle, body: '', externalKey: plan };
      await createPlan(store, project, made, actorOf(caller), undefined);
      planIds.set(plan, made.id);
    }
    return await createTasks(
      store,
      project,
      {
        tasks: tasks.map(
          ({
            key,
            plan,
            parent,
            blockedBy: _,
            planTitle: __,
            line: ___,
            flaw: ____,
            ...task
          }): BroughtTask => ({
            ...task,
            id: idOf(key),
            externalKey: key,
            planId: plan === undefined ? undefined : planIds.get(plan),
            parentId: parent === undefined ? undefined : idOf(parent),
          }),
        ),
        edges: draft.freshEdges.map(({ waiting, blocker, ofParent }) => ({
          taskId: idOf(waiting),
          blockerId: idOf(blocker),
          acceptDropped: ofParent,
        })),
        parents: draft.parents,
        graphVersion: draft.graphVersion,
        blockers:
          draft.graphVersion === undefined
            ? []
            : [...new Set(draft.freshEdges.map(({ blocker }) => blocker))].flatMap(
                (key) => draft.present.get(key)?.state ?? [],
              ),
      },
      actorOf(caller),
    );
  } catch (error) {
    const constraint = constraintOf(error);
    if (constraint === 'plan_external_key' || constraint === 'task_external_key') return false;
    if (faultOf(error) === 'CONTENDED') return false;
    throw error;
  }
}

function results(
  { list }: Import,
  { faults, refused, present, amendments }: Draft,
  how: 'SKIPPED' | 'FORESEEN' | 'DONE',
  failed: ReadonlyMap<number, Refused>,
  idOf: (key: string) => string,
): Results {
  const changed = new Set(amendments.filter(amends).map(({ record }) => record));
  return list.map(({ key, line, flaw }, record) => {
    const error = faults[record] ?? reason(failed.get(record) ?? refused.get(record));
    const skipped = how === 'SKIPPED' && faults[record] === undefined;
    const action = skipped
      ? ImportAction.SKIPPED
      : error !== undefined
        ? ImportAction.FAILED
        : changed.has(record)
          ? ImportAction.UPDATED
          : present.has(key)
            ? ImportAction.UNCHANGED
            : ImportAction.CREATED;
    const created = how === 'DONE' && action === ImportAction.CREATED;
    return {
      externalKey: flaw === undefined || key.isWellFormed() ? key : '',
      taskId: present.get(key)?.state.taskId ?? (created ? idOf(key) : ''),
      action,
      error: skipped ? '' : (error ?? ''),
      line,
    };
  });
}

function reason(refused: Refused | undefined): string | undefined {
  return typeof refused === 'object' ? problemError(refused).rawMessage : refused;
}
