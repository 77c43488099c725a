import { TaskStatus } from '@holdfast/proto/task';
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
  open: TaskStatus.OPEN,
  in_progress: TaskStatus.OPEN,
  blocked: TaskStatus.OPEN,
  hooked: TaskStatus.OPEN,
  pinned: TaskStatus.OPEN,
  deferred: TaskStatus.OPEN,
  closed: TaskStatus.DONE,
};
/** Statuses that have no other trace here. */
const LABELLED = ['deferred', 'pinned'];
/** The dependencies that keep an issue from being ready; the others only relate. */
const BLOCKING = ['blocks', 'conditional-blocks', 'waits-for'];
const LOWEST = 4;
const DEFAULT_PRIORITY = 2;

/** Reads an export of beads: an issue a line, as JSON. */
export function readBeads(text: string, { name, planTitle }: ReadOptions): TaskFile {
  const file: TaskFile = {
    tasks: [],
    errors: [],
    notes: [],
    updates: ['title', 'body', 'priority', 'labels'],
  };
  const deleted = new Set<string>();
  for (const [at, raw] of text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .entries()) {
    if (raw.trim() === '') continue;
    const line = at + 1;
    try {
      const issue = JSON.parse(raw) as Json;
      if (typeof issue !== 'object' || issue === null || Array.isArray(issue))
        throw new Error('is no JSON object');
      if (issue._type !== undefined && issue._type !== 'issue') continue;
      if (issue.status === 'tombstone') deleted.add(keyOf(issue.id));
      else file.tasks.push(issueTask(issue, line, planTitle === undefined ? '' : name, planTitle ?? ''));
    } catch (error) {
      const { message } = error as Error;
      file.errors.push({
        line,
        message: error instanceof SyntaxError ? `this is not JSON: ${message}` : message,
      });
    }
  }
  for (const task of file.tasks) {
    task.blockedBy = task.blockedBy.filter((key) => !deleted.has(key));
    if (deleted.has(task.parent)) task.parent = '';
  }
  inheritBlockers(file.tasks);
  const cut = unlinkFinished(file.tasks);
  if (cut > 0) file.notes.push(`Left out: ${cut} tie(s) of closed issues to unfinished ones.`);
  return file;
}

const keyOf = (id: unknown) => `bd:${String(id)}`;

function issueTask(issue: Json, line: number, plan: string, planTitle: string): FileTask {
  const { id, title, status = 'open', priority = DEFAULT_PRIORITY, issue_type: type = 'task' } = issue;
  if (typeof id !== 'string' || id === '') throw new Error('this issue has no id');
  if (typeof title !== 'string' || title.trim() === '') throw new Error(`${id} has no title`);
  const known = typeof status === 'string' && Object.hasOwn(STATUSES, status) ? STATUSES[status] : undefined;
  if (known === undefined) {
    const names = [...Object.keys(STATUSES), 'tombstone'].join(', ');
    throw new Error(`${id} has the unknown status ${JSON.stringify(status)}; known are ${names}`);
  }
  if (!Number.isInteger(priority) || (priority as number) < 0 || (priority as number) > LOWEST) {
    throw new Error(
      `${id} has the priority ${JSON.stringify(priority)}; it must be 0 (highest) to ${LOWEST}`,
    );
  }
  const edges = dependenciesOf(issue, id);
  const task = fileTask({
    line,
    externalKey: keyOf(id),
    title: title.trim(),
    body: sections(
      ['', issue.description],
      ['Design', issue.design],
      ['Acceptance criteria', issue.acceptance_criteria],
      ['Notes', issue.notes],
    ),
    status: known,
    priority: LOWEST - (priority as number),
    labels: [
      ...texts(issue.labels),
      ...(type === 'task' ? [] : [`type:${String(type)}`]),
      ...LABELLED.filter((label) => label === status),
    ],
    blockedBy: edges.filter(({ kind }) => BLOCKING.includes(kind)).map(({ to }) => to),
    parent: edges.find(({ kind }) => kind === 'parent-child')?.to ?? '',
    plan,
    planTitle,
    assignee: typeof issue.assignee === 'string' ? issue.assignee.trim() : '',
  });
  if (isFinished(task) && typeof issue.close_reason === 'string') task.result = issue.close_reason;
  return task;
}

function dependenciesOf(issue: Json, id: string): { to: string; kind: string }[] {
  const { dependencies = [] } = issue;
  if (dependencies === null) return [];
  if (!Array.isArray(dependencies)) throw new Error(`${id} has dependencies that are no list`);
  return dependencies.flatMap((edge: Json | null) => {
    const { issue_id: from = id, depends_on_id: to, type: kind = 'blocks' } = edge ?? {};
    if (typeof to !== 'string') throw new Error(`${id} has a dependency without depends_on_id`);
    return from === id ? [{ to: keyOf(to), kind: String(kind) }] : [];
  });
}

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
