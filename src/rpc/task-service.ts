import { type TaskService, TaskStatus, type UpdateTaskRequest } from '@holdfast/proto/task';
import type { ContentChange, NoteDraft } from '../domain/change.js';
import { decideNote, decideUpdate } from '../domain/content.js';
import { canonicalPrincipal } from '../domain/principal.js';
import { noSuchTask } from '../domain/problem.js';
import type { TaskStatus as StatusName } from '../domain/task-state.js';
import {
  blockedAgainBy,
  decideComplete,
  decideDelete,
  decideDrop,
  decideReopen,
  decideRequeue,
  stillBlockedBy,
} from '../domain/transitions.js';
import { mutate } from '../store/mutate.js';
import { findNote, newestNotes } from '../store/notes.js';
import { findTask, listTasks } from '../store/tasks.js';
import { type Done, done, doneOrRef, fail, type ServiceFunctions } from './api.js';
import { createTaskCall } from './create-task.js';
import { dependencyFunctions } from './dependency-functions.js';
import { noteMessage, unmetMessage } from './encode/task.js';
import { afterwards, currentTask, messageOf, write } from './guarded-write.js';
import { newId } from './ids.js';
import { importTasks } from './import-tasks.js';
import { cut, numberCursor, pageOf } from './page.js';
import { planFunctions } from './plan-functions.js';
import { invalidArgument } from './problems.js';
import { queueFunctions } from './queue-functions.js';

type Functions = ServiceFunctions<typeof TaskService.method>;

const STATUSES = ['OPEN', 'IN_PROGRESS', 'DONE', 'DROPPED', 'QUARANTINED'] as const satisfies StatusName[];
const MAX_NOTES = 100;

const assigneeOf = (name: string) => (name === '' ? '' : canonicalPrincipal(name));

const getTask: Functions['getTask'] = async ({ store }, call, request) => {
  const { taskId, externalKey } = request;
  if ((taskId === '') === (externalKey === '')) {
    throw invalidArgument('task_id', 'or external_key must be given, not both');
  }
  const found = await findTask(store, call.project, taskId ? { taskId } : { externalKey });
  if (!found) fail(noSuchTask(taskId || externalKey));
  const notes =
    found.state.noteCount > 0 ? await newestNotes(store, call.project, found.task.id, MAX_NOTES) : [];
  const unmet =
    found.state.unmet > 0 ? await store.read({ project: call.project, taskId: found.task.id }) : undefined;
  return {
    task: messageOf(found),
    notes: notes.map(noteMessage),
    unmetDependencies: (unmet?.found?.unmet ?? []).map(unmetMessage),
  };
};

const listTasksCall: Functions['listTasks'] = async ({ store }, call, request) => {
  const page = pageOf(request, call.project);
  const found = await listTasks(
    store,
    call.project,
    {
      statuses: STATUSES.filter((name) => request.statuses.includes(TaskStatus[name])),
      planId: request.planId || undefined,
      labels: request.labels,
      assignee: assigneeOf(request.assignee) || undefined,
      holder: assigneeOf(request.holder) || undefined,
      parentId: request.parentId || undefined,
    },
    Number(numberCursor(page) ?? 0),
    page.size + 1,
  );
  const { rows, nextPageToken } = cut(page, found, ({ task }) => String(task.seq));
  return { tasks: rows.map(messageOf), nextPageToken };
};

const WITH_DEPENDENTS = { dependents: true } as const;

/** The tasks that became ready by a mutation, at most 100. */
const readied = ({ done }: Pick<Done<unknown>, 'done'>) => done?.readied.slice(0, 100) ?? [];

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
    await write(api, call, 'UpdateTask', request, {}, (read, guard) =>
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
    await write(api, call, 'AddNote', request, {}, (read, guard) =>
      decideNote(read, call.caller, guard, note),
    ),
  );
  if (outcome.kind === 'REPEATED') {
    const found = await findNote(api.store, call.project, outcome.ref);
    if (!found) fail({ kind: 'NOT_FOUND', message: 'The note was deleted together with its task.' });
    return { note: noteMessage(found), task: await currentTask(api, call, found.taskId) };
  }
  const createdAt = outcome.done?.at ?? outcome.read.now;
  return { note: noteMessage({ ...note, createdAt }), task: await afterwards(api, call, outcome) };
};

const completeTask: Functions['completeTask'] = async (api, call, request) => {
  const outcome = doneOrRef(
    await write(api, call, 'CompleteTask', request, {}, (read, guard) =>
      decideComplete(read, call.caller, guard, request.result, read.task, read.unmet),
    ),
  );
  if (outcome.kind === 'REPEATED') return { task: await currentTask(api, call, outcome.ref) };
  return { task: await afterwards(api, call, outcome), becameReady: readied(outcome) };
};

const dropTask: Functions['dropTask'] = async (api, call, request) => {
  const outcome = done(
    await write(api, call, 'DropTask', request, WITH_DEPENDENTS, (read, guard) =>
      decideDrop(read, call.caller, guard, request.reason, read.dependents),
    ),
  );
  return {
    task: await afterwards(api, call, outcome),
    stillBlocked: stillBlockedBy(outcome.read.dependents),
    becameReady: readied(outcome),
  };
};

const reopenTask: Functions['reopenTask'] = async (api, call, request) => {
  const outcome = done(
    await write(api, call, 'ReopenTask', request, WITH_DEPENDENTS, (read, guard) =>
      decideReopen(read, call.caller, guard, request.reason, read.dependents),
    ),
  );
  return {
    task: await afterwards(api, call, outcome),
    blockedAgain: blockedAgainBy(outcome.read.state, outcome.read.dependents),
    unmetDependencies: outcome.read.unmet.map(unmetMessage),
  };
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
  const { read } = done(
    await write(api, call, 'DeleteTask', request, WITH_DEPENDENTS, (read, guard) =>
      decideDelete(read, call.caller, guard, read.task, {
        detach: request.detach,
        dependents: read.dependents,
      }),
    ),
  );
  return { detached: read.dependents.map(({ taskId }) => taskId) };
};

export const taskFunctions = {
  createTask: createTaskCall,
  ...dependencyFunctions,
  ...queueFunctions,
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
  importTasks,
} satisfies Functions;
