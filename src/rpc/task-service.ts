import { type TaskService, TaskStatus, type UpdateTaskRequest } from '@holdfast/proto/task';
import type { ContentChange, NoteDraft } from '../domain/change.js';
import { decideNote, decideUpdate } from '../domain/content.js';
import type { Decision } from '../domain/decision.js';
import { canonicalPrincipal } from '../domain/principal.js';
import { noSuchTask } from '../domain/problem.js';
import { taskAfter } from '../domain/task.js';
import type { TaskStatus as StatusName } from '../domain/task-state.js';
import {
  decideComplete,
  decideDelete,
  decideDrop,
  decideReopen,
  decideRequeue,
} from '../domain/transitions.js';
import { actorOf, type GuardedRequest } from '../domain/write.js';
import { constraintOf, faultOf } from '../store/database-error.js';
import { mutate } from '../store/mutate.js';
import { findNote, newestNotes } from '../store/notes.js';
import type { TaskRead } from '../store/read-task.js';
import { createTask, findTask, listTasks, type TaskWithState } from '../store/tasks.js';
import { type Api, type Done, done, doneOrRef, fail, type ServiceFunctions } from './api.js';
import { type Call, earlier } from './call.js';
import { noteMessage, taskMessage } from './encode/task.js';
import { newId } from './ids.js';
import { cut, numberCursor, pageOf } from './page.js';
import { planFunctions } from './plan-functions.js';
import { invalidArgument, unimplemented } from './problems.js';

type Functions = ServiceFunctions<typeof TaskService.method>;

const STATUSES = ['OPEN', 'IN_PROGRESS', 'DONE', 'DROPPED', 'QUARANTINED'] as const satisfies StatusName[];
const MAX_NOTES = 100;

const assigneeOf = (name: string) => (name === '' ? '' : canonicalPrincipal(name));

const createTaskCall: Functions['createTask'] = async ({ store }, call, request) => {
  if (request.blockedBy.length > 0 || request.parentId) unimplemented('Dependencies between tasks');
  const id = newId();
  const ref = await earlier(store, call);
  if (ref !== undefined) return { task: await currentTask(store, call, ref) };
  try {
    const created = await createTask(
      store,
      call.project,
      {
        id,
        title: request.title,
        body: request.body,
        priority: request.priority,
        labels: [...new Set(request.labels)],
        planId: request.planId || undefined,
        externalKey: request.externalKey || undefined,
        assignee: assigneeOf(request.assignee),
      },
      actorOf(call.caller),
      call.request,
    );
    if (!created) fail({ kind: 'NOT_FOUND', message: `There is no plan ${JSON.stringify(request.planId)}.` });
    return { task: messageOf(created) };
  } catch (error) {
    if (faultOf(error) !== 'DUPLICATE') throw error;
    // The same request, applied by a concurrent call, or else a key that is in use.
    const ref = await earlier(store, call);
    if (ref !== undefined) return { task: await currentTask(store, call, ref) };
    if (constraintOf(error) !== 'task_external_key') throw error;
    return fail({
      kind: 'ALREADY_EXISTS',
      message: `external_key ${JSON.stringify(request.externalKey)} is in use. GetTask with it finds the task.`,
    });
  }
};

const messageOf = ({ task, state, now }: TaskWithState) => taskMessage(task, state, now);

async function currentTask(store: Api['store'], call: Call, taskId: string) {
  const found = await findTask(store, call.project, { taskId });
  return found ? messageOf(found) : fail(noSuchTask(taskId));
}

const getTask: Functions['getTask'] = async ({ store }, call, request) => {
  const { taskId, externalKey } = request;
  if ((taskId === '') === (externalKey === '')) {
    throw invalidArgument('task_id', 'or external_key must be given, not both');
  }
  const found = await findTask(store, call.project, taskId ? { taskId } : { externalKey });
  if (!found) fail(noSuchTask(taskId || externalKey));
  const notes =
    found.state.noteCount > 0 ? await newestNotes(store, call.project, found.task.id, MAX_NOTES) : [];
  return { task: messageOf(found), notes: notes.map(noteMessage) };
};

const listTasksCall: Functions['listTasks'] = async ({ store }, call, request) => {
  const page = pageOf(request, call.project);
  if (request.parentId) unimplemented('Sub-tasks');
  const found = await listTasks(
    store,
    call.project,
    {
      statuses: STATUSES.filter((name) => request.statuses.includes(TaskStatus[name])),
      planId: request.planId || undefined,
      labels: request.labels,
      assignee: assigneeOf(request.assignee) || undefined,
      holder: assigneeOf(request.holder) || undefined,
    },
    Number(numberCursor(page) ?? 0),
    page.size + 1,
  );
  const { rows, nextPageToken } = cut(page, found, ({ task }) => String(task.seq));
  return { tasks: rows.map(messageOf), nextPageToken };
};

/** What every guarded write request has. */
interface GuardedMessage {
  readonly taskId: string;
  readonly executionId: string;
  readonly overrideReason: string;
  readonly proof?: { readonly leaseId: string; readonly fencingToken: bigint } | undefined;
}

/** Runs one guarded write: all of them read the same things and differ only in what they decide. */
async function write<Answer>(
  { store }: Api,
  call: Call,
  rpc: string,
  message: GuardedMessage,
  decide: (read: TaskRead, guard: GuardedRequest) => Decision<Answer>,
) {
  if (message.overrideReason !== '' && message.overrideReason.trim() === '') {
    throw invalidArgument('override_reason', 'must say why');
  }
  return mutate(store, {
    project: call.project,
    taskId: message.taskId,
    along: { leaseId: message.proof?.leaseId },
    request: call.request,
    decide: (read) =>
      decide(read, {
        rpc,
        proof: message.proof,
        proofLeaseTaskId: read.namedLease?.taskId,
        overrideReason: message.overrideReason || undefined,
      }),
  });
}

/**
 * The task as a mutation left it. Only if somebody else changed its content meanwhile is it read again: text
 * and etag of one answer belong together.
 */
async function afterwards({ store }: Api, call: Call, { read, done }: Pick<Done<unknown>, 'read' | 'done'>) {
  if (!done?.state) return taskMessage(read.task, read.state, read.now);
  const expected = read.state.contentVersion + (done.change.content ? 1n : 0n);
  return done.state.contentVersion === expected
    ? taskMessage(taskAfter(read.task, done.change, done.at), done.state, done.at)
    : currentTask(store, call, read.state.taskId);
}

const UPDATABLE = ['title', 'body', 'priority', 'labels', 'assignee'] as const;

const updateTask: Functions['updateTask'] = async (api, call, request) => {
  const paths = request.updateMask?.paths ?? UPDATABLE.filter((field) => isPresent(request, field));
  const unknown = paths.find((path) => !UPDATABLE.some((field) => field === path));
  if (unknown !== undefined) {
    throw invalidArgument(
      'update_mask',
      `names ${JSON.stringify(unknown)}; it may name ${UPDATABLE.join(', ')}`,
    );
  }
  const wanted: ContentChange = {
    ...(paths.includes('title') && { title: request.title ?? '' }),
    ...(paths.includes('body') && { body: request.body ?? '' }),
    ...(paths.includes('priority') && { priority: request.priority ?? 0 }),
    ...(paths.includes('labels') && { labels: [...new Set(request.labels)] }),
    ...(paths.includes('assignee') && { assignee: assigneeOf(request.assignee ?? '') }),
  };
  if (wanted.title !== undefined && wanted.title.trim() === '')
    throw invalidArgument('title', 'must not be empty');
  const outcome = done(
    await write(api, call, 'UpdateTask', request, (read, guard) =>
      decideUpdate(read, call.caller, guard, read.task, wanted, request.etag || undefined),
    ),
  );
  return { task: await afterwards(api, call, outcome) };
};

function isPresent(request: UpdateTaskRequest, field: (typeof UPDATABLE)[number]): boolean {
  return field === 'labels' ? request.labels.length > 0 : request[field] !== undefined;
}

const addNote: Functions['addNote'] = async (api, call, request) => {
  const note: NoteDraft = {
    id: newId(),
    author: call.caller.principal,
    executionId: call.caller.executionId,
    text: request.text,
  };
  const outcome = doneOrRef(
    await write(api, call, 'AddNote', request, (read, guard) => decideNote(read, call.caller, guard, note)),
  );
  const noteId = outcome.kind === 'REPEATED' ? outcome.ref : note.id;
  const found = await findNote(api.store, call.project, noteId);
  if (!found) fail({ kind: 'NOT_FOUND', message: 'The note was deleted together with its task.' });
  return { note: noteMessage(found), task: await currentTask(api.store, call, found.taskId) };
};

const completeTask: Functions['completeTask'] = async (api, call, request) => {
  const outcome = doneOrRef(
    await write(api, call, 'CompleteTask', request, (read, guard) =>
      decideComplete(read, call.caller, guard, request.result, read.task),
    ),
  );
  if (outcome.kind === 'REPEATED') return { task: await currentTask(api.store, call, outcome.ref) };
  return { task: await afterwards(api, call, outcome) };
};

const dropTask: Functions['dropTask'] = async (api, call, request) => {
  const outcome = done(
    await write(api, call, 'DropTask', request, (read, guard) =>
      decideDrop(read, call.caller, guard, request.reason),
    ),
  );
  return { task: await afterwards(api, call, outcome) };
};

const reopenTask: Functions['reopenTask'] = async (api, call, request) => {
  const outcome = done(
    await write(api, call, 'ReopenTask', request, (read, guard) =>
      decideReopen(read, call.caller, guard, request.reason),
    ),
  );
  return { task: await afterwards(api, call, outcome) };
};

const requeueTask: Functions['requeueTask'] = async (api, call, request) => {
  const outcome = done(
    await mutate(api.store, {
      project: call.project,
      taskId: request.taskId,
      decide: (read) => decideRequeue(read, call.caller, request.reason),
    }),
  );
  return { task: await afterwards(api, call, outcome) };
};

const deleteTask: Functions['deleteTask'] = async (api, call, request) => {
  done(
    await write(api, call, 'DeleteTask', request, (read, guard) =>
      decideDelete(read, call.caller, guard, read.task),
    ),
  );
  return {};
};

export const taskFunctions = {
  createTask: createTaskCall,
  getTask,
  listTasks: listTasksCall,
  updateTask,
  addNote,
  completeTask,
  dropTask,
  reopenTask,
  requeueTask,
  deleteTask,
  ...planFunctions,
} satisfies Functions;
