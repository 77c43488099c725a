import {
  type ImportedTask,
  ImportedTaskSchema,
  type ImportTasksRequest,
  TaskStatus,
} from '@holdfast/proto/task';
import type { ContentChange } from '../domain/change.js';
import type { ListedTask } from '../domain/import-list.js';
import { canonicalPrincipal } from '../domain/principal.js';
import { invalidArgument } from './problems.js';
import { firstViolation } from './validate.js';

const STATUSES = {
  [TaskStatus.UNSPECIFIED]: 'OPEN',
  [TaskStatus.OPEN]: 'OPEN',
  [TaskStatus.DONE]: 'DONE',
  [TaskStatus.DROPPED]: 'DROPPED',
} as const;

/** A record as the rules take it. A record that breaks the rule of a field has a flaw; the others are not its fault. */
export function listedTask(record: ImportedTask): ListedTask {
  const status = STATUSES[record.status as keyof typeof STATUSES];
  const violation = firstViolation(ImportedTaskSchema, record);
  const flaw = violation
    ? `${violation.field} ${violation.description}`
    : status === undefined
      ? `status is ${TaskStatus[record.status]}; a list may say OPEN, DONE or DROPPED`
      : undefined;
  return {
    key: record.externalKey,
    title: record.title,
    body: record.body,
    status: status ?? 'OPEN',
    priority: record.priority,
    labels: [...new Set(record.labels)],
    blockedBy: flaw ? [] : [...new Set(record.blockedBy)],
    parent: flaw ? undefined : record.parent || undefined,
    plan: record.plan || undefined,
    planTitle: record.planTitle || record.plan,
    result: record.result,
    assignee: record.assignee && canonicalPrincipal(record.assignee),
    line: record.line,
    flaw,
  };
}

const UPDATABLE = ['title', 'body', 'priority', 'labels', 'assignee'] as const;

/**
 * What an import wants the content of a task that is there to be.
 *
 * @throws INVALID_ARGUMENT for an update_mask that names another field
 */
export function wantedContent({ updateMask }: ImportTasksRequest): (task: ListedTask) => ContentChange {
  const unknown = updateMask?.paths.find((path) => !UPDATABLE.some((field) => field === path));
  if (unknown !== undefined) {
    const names = `names ${JSON.stringify(unknown)}; it may name ${UPDATABLE.join(', ')}`;
    throw invalidArgument('update_mask', names);
  }
  return (task) => {
    const paths: readonly string[] =
      updateMask?.paths ?? UPDATABLE.filter((field) => field !== 'assignee' || task.assignee !== '');
    return {
      ...(paths.includes('title') && { title: task.title }),
      ...(paths.includes('body') && { body: task.body }),
      ...(paths.includes('priority') && { priority: task.priority }),
      ...(paths.includes('labels') && { labels: task.labels }),
      ...(paths.includes('assignee') && { assignee: task.assignee }),
    };
  };
}
