import type { CreateTaskRequest, TaskService } from '@holdfast/proto/task';
import { decideAddChild, edgeEvent, noSuchBlocker, wouldCycle } from '../domain/dependencies.js';
import { canonicalPrincipal } from '../domain/principal.js';
import { lapsedLease } from '../domain/task-state.js';
import { actorOf } from '../domain/write.js';
import { type Created, createTask, type NewTask } from '../store/create-task.js';
import { Contention, constraintOf, faultOf } from '../store/database-error.js';
import { depsVersionsOf, findPath } from '../store/edges.js';
import { recordEvent } from '../store/events.js';
import { settle } from '../store/mutate.js';
import { type Api, fail, type ServiceFunctions } from './api.js';
import { type Call, earlier } from './call.js';
import { currentTask, guardOf, messageOf } from './guarded-write.js';
import { newId } from './ids.js';
import { invalidArgument } from './problems.js';

type Functions = ServiceFunctions<typeof TaskService.method>;

const MAX_TRIES = 8;

export const createTaskCall: NonNullable<Functions['createTask']> = async (api, call, request) => {
  const ref = await earlier(api.store, call);
  if (ref !== undefined) return { task: await currentTask(api, call, ref) };
  try {
    const made = await createOnce(api, call, request);
    switch (made.kind) {
      case 'CREATED':
        return { task: messageOf(made.created) };
      case 'NO_SUCH_PLAN':
        return fail({ kind: 'NOT_FOUND', message: `There is no plan ${JSON.stringify(request.planId)}.` });
      case 'NO_SUCH_BLOCKERS':
        return fail(noSuchBlocker(made.ids));
    }
  } catch (error) {
    if (faultOf(error) !== 'DUPLICATE') throw error;
    // The same request, applied by a concurrent call, or else a key that is in use.
    const ref = await earlier(api.store, call);
    if (ref !== undefined) return { task: await currentTask(api, call, ref) };
    if (constraintOf(error) !== 'task_external_key') throw error;
    return fail({
      kind: 'ALREADY_EXISTS',
      message: `external_key ${JSON.stringify(request.externalKey)} is in use. GetTask with it finds the task.`,
    });
  }
};

async function createOnce(
  { store }: Api,
  call: Call,
  request: CreateTaskRequest,
): Promise<Exclude<Created, { kind: 'OVERTAKEN' }>> {
  const id = newId();
  const blockedBy = [...new Set(request.blockedBy)];
  if (request.parentId && blockedBy.includes(request.parentId)) {
    throw invalidArgument('blocked_by', 'names the parent, which waits for this task');
  }
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const parent = request.parentId ? await readParent(store, call, request, id) : undefined;
    if (parent === 'SETTLED') continue;
    const mayCycle = parent && blockedBy.length > 0 && parent.state.dependents > 0;
    const depsVersions = mayCycle ? await depsVersionsOf(store, call.project, blockedBy) : {};
    const search = mayCycle ? await findPath(store, call.project, blockedBy, parent.state.taskId) : undefined;
    if (search?.path) fail(wouldCycle([...search.path, id]));
    const fresh: NewTask = {
      id,
      title: request.title,
      body: request.body,
      priority: request.priority,
      labels: [...new Set(request.labels)],
      planId: request.planId || undefined,
      externalKey: request.externalKey || undefined,
      assignee: request.assignee === '' ? '' : canonicalPrincipal(request.assignee),
      blockedBy,
      parent,
      graphVersion: search?.graphVersion,
      depsVersions,
    };
    const made = await createTask(store, call.project, fresh, actorOf(call.caller), call.request);
    if (made.kind !== 'OVERTAKEN') return made;
  }
  throw new Contention();
}

/** The parent, if the caller may add to it: a new sub-task makes its parent wait, which is a write of it. */
async function readParent(store: Api['store'], call: Call, request: CreateTaskRequest, childId: string) {
  const { found } = await store.read({
    project: call.project,
    taskId: request.parentId,
    leaseId: request.proof?.leaseId,
  });
  if (!found) {
    fail({
      kind: 'NOT_FOUND',
      message: `There is no task ${JSON.stringify(request.parentId)} to be the parent.`,
    });
  }
  if (lapsedLease(found.state, found.now)) {
    await settle(store, call.project, found);
    return 'SETTLED';
  }
  const decision = decideAddChild(found, call.caller, guardOf('CreateTask', request)(found));
  const { taskId, fencingToken } = found.state;
  if (decision.record) await recordEvent(store, call.project, taskId, fencingToken, decision.record);
  if ('problem' in decision) fail(decision.problem);
  const edge = edgeEvent('DEPENDENCY_ADDED', call.caller, { blockerId: childId, acceptDropped: true });
  return { state: found.state, events: [...decision.answer.audit, edge] };
}
