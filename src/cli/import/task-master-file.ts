import { TaskStatus } from '@holdfast/proto/task';
import { objectLines, parseJson } from './json-lines.js';
import {
  type FileTask,
  fileTask,
  isFinished,
  type ReadOptions,
  sections,
  type TaskFile,
} from './task-file.js';
import { inheritBlockers, unlinkFinished } from './task-graph.js';

type Json = Record<string, unknown>;

const STATUSES: Readonly<Record<string, TaskStatus>> = {
  pending: TaskStatus.OPEN,
  'in-progress': TaskStatus.OPEN,
  blocked: TaskStatus.OPEN,
  review: TaskStatus.OPEN,
  deferred: TaskStatus.OPEN,
  done: TaskStatus.DONE,
  completed: TaskStatus.DONE,
  cancelled: TaskStatus.DROPPED,
};
/** Statuses that have no other trace here. */
const LABELLED = ['review', 'deferred'];
/** As beads' P0 to P3 become. */
const PRIORITIES: Readonly<Record<string, number>> = { critical: 4, high: 3, medium: 2, low: 1 };
const LEGACY_TAG = 'master';

/** Whether a JSON value looks like a tasks.json. */
export function looksLikeTaskMaster(value: unknown): boolean {
  return tagsOf(value).length > 0;
}

/** Each tag with its tasks, and the way to them. A file of old has no tags. */
function tagsOf(value: unknown): { tag: string; way: string; tasks: unknown[] }[] {
  if (!isObject(value)) return [];
  if (Array.isArray(value.tasks)) return [{ tag: LEGACY_TAG, way: 'tasks', tasks: value.tasks }];
  return Object.entries(value).flatMap(([tag, content]) =>
    isObject(content) && Array.isArray(content.tasks)
      ? [{ tag, way: `${tag}.tasks`, tasks: content.tasks }]
      : [],
  );
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads a tasks.json of task-master: its tags as plans, its tasks with their sub-tasks. */
export function readTaskMaster(text: string, { name, named, planTitle }: ReadOptions): TaskFile {
  const file: TaskFile = {
    tasks: [],
    errors: [],
    notes: [],
    updates: ['title', 'body', 'priority', 'labels'],
  };
  const parsed = parseJson(text.replace(/^\ufeff/, ''));
  if (!('value' in parsed)) return { ...file, errors: [parsed] };
  const lines = objectLines(text);
  const tags = tagsOf(parsed.value);
  if (tags.length === 0)
    file.errors.push({ line: 1, message: 'there is no list of "tasks", with or without a tag' });
  for (const { tag, way, tasks } of tags) {
    const base = `tm:${named ? `${name}/` : ''}${tag}`;
    const plan = planTitle === undefined ? tag : tags.length > 1 ? `${planTitle} › ${tag}` : planTitle;
    readTag(
      file,
      tasks,
      (id) => `${base}/${id}`,
      { plan: base, planTitle: plan },
      (at) => lines.get(`${way}.${at}`) ?? 1,
    );
  }
  inheritBlockers(file.tasks);
  const cut = unlinkFinished(file.tasks);
  if (cut > 0) file.notes.push(`Left out: ${cut} tie(s) of finished tasks to unfinished ones.`);
  return file;
}

function readTag(
  file: TaskFile,
  tasks: readonly unknown[],
  keyOf: (id: string) => string,
  plan: Pick<FileTask, 'plan' | 'planTitle'>,
  lineOf: (at: string) => number,
): void {
  const attempt = (at: string, read: (line: number) => FileTask): FileTask | undefined => {
    const line = lineOf(at);
    try {
      const task = read(line);
      file.tasks.push({ ...task, ...plan });
      return task;
    } catch (error) {
      file.errors.push({ line, message: (error as Error).message });
      return undefined;
    }
  };
  for (const [at, content] of tasks.entries()) {
    const task = attempt(`${at}`, (line) => {
      const id = idOf(content, 'task');
      return taskOf(content as Json, id, line, keyOf, (to) => to);
    });
    if (!task || !isObject(content) || !Array.isArray(content.subtasks)) continue;
    const id = idOf(content, 'task');
    const siblings = new Set(content.subtasks.map((sub) => String(isObject(sub) ? sub.id : '')));
    for (const [subAt, sub] of content.subtasks.entries()) {
      attempt(`${at}.subtasks.${subAt}`, (line) => {
        const own = `${id}.${idOf(sub, `sub-task of task ${id}`)}`;
        // A bare number is a sibling if there is one, else a task.
        const resolve = (to: string) => (siblings.has(to) ? `${id}.${to}` : to);
        const inherited = { priority: content.priority, ...(sub as Json) };
        return { ...taskOf(inherited, own, line, keyOf, resolve), parent: task.externalKey };
      });
    }
  }
}

function idOf(content: unknown, what: string): string {
  const id = isObject(content) ? content.id : undefined;
  if ((typeof id !== 'number' && typeof id !== 'string') || String(id) === '')
    throw new Error(`this ${what} has no id`);
  return String(id);
}

function taskOf(
  content: Json,
  id: string,
  line: number,
  keyOf: (id: string) => string,
  resolve: (id: string) => string,
): FileTask {
  const { title, status = 'pending', priority = 'medium', dependencies = [] } = content;
  if (typeof title !== 'string' || title.trim() === '') throw new Error(`task ${id} has no title`);
  if (!Array.isArray(dependencies)) throw new Error(`task ${id} has dependencies that are no list`);
  const task = fileTask({
    line,
    externalKey: keyOf(id),
    title: title.trim(),
    body: sections(
      ['', content.description],
      ['Details', content.details],
      ['Test strategy', content.testStrategy],
    ),
    status: named(STATUSES, status, `task ${id} has the unknown status`),
    priority: named(PRIORITIES, priority, `task ${id} has the unknown priority`),
    labels: LABELLED.filter((label) => label === status),
    blockedBy: [...new Set(dependencies.map((to: unknown) => keyOf(resolve(String(to)))))],
    assignee: typeof content.assignee === 'string' ? content.assignee.trim() : '',
  });
  if (isFinished(task)) task.result = `${String(status)} in task-master`;
  return task;
}

function named<Value>(values: Readonly<Record<string, Value>>, name: unknown, complaint: string): Value {
  const value = typeof name === 'string' && Object.hasOwn(values, name) ? values[name] : undefined;
  if (value === undefined) {
    throw new Error(`${complaint} ${JSON.stringify(name)}; known are ${Object.keys(values).join(', ')}`);
  }
  return value;
}
