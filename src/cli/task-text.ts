import type { Holder } from '@holdfast/proto/guard';
import { type Note, type Task, TaskStatus, type UnmetDependency } from '@holdfast/proto/task';
import type { Output } from './output.js';
import type { Style } from './style.js';
import { details } from './table.js';
import { indented, oneLine, printable } from './text.js';
import { moment } from './time.js';

/** A holder for people: `ann (execution 7f…)`. */
export function holderText(holder: Holder | undefined): string {
  return holder ? `${holder.principal} (execution ${holder.executionId})` : '';
}

/** How a task stands, in a word. */
function statusText(task: Task): string {
  const blocked = task.status === TaskStatus.OPEN && task.unmetDependencies > 0;
  return blocked ? 'BLOCKED' : TaskStatus[task.status];
}

/** Tasks as a table; without any, a line that says so. */
export function taskTable(out: Output, tasks: readonly Task[], none: string): string {
  if (tasks.length === 0) return none;
  return out.table(tasks, [
    ['ID', (task) => task.id],
    ['STATUS', statusText],
    ['PRIORITY', (task) => String(task.priority)],
    ['HOLDER', (task) => task.holder?.principal ?? ''],
    ['TITLE', (task) => task.title],
  ]);
}

/** One line for a task that was just changed: `DONE  0192…  Write the parser`. */
export function taskLine(task: Task | undefined, style: Style): string {
  return task ? `${style.bold(statusText(task))}  ${task.id}  ${oneLine(task.title)}` : '';
}

/** All there is to know of a task. */
export function taskText(task: Task, style: Style): string {
  const facts = details(
    [
      ['id', task.id],
      ['status', statusText(task)],
      ['holder', holderText(task.holder)],
      ['lease ends', moment(task.leaseExpiresAt)],
      ['fencing token', task.fencingToken > 0n ? String(task.fencingToken) : ''],
      ['attempts', task.attempt > 0 ? String(task.attempt) : ''],
      ['expired in a row', task.expiriesInARow > 0 ? String(task.expiriesInARow) : ''],
      ['priority', String(task.priority)],
      ['labels', task.labels.join(', ')],
      ['plan', task.planId && `${task.planId}, step ${task.planOrder}`],
      ['waits for', task.blockedBy.join(', ')],
      ['parent', task.parentId],
      ['assignee', task.assignee],
      ['external key', task.externalKey],
      ['created', `${moment(task.createdAt)} by ${task.createdBy}`],
      ['closed', task.closedAt ? `${moment(task.closedAt)} by ${task.closedBy}` : ''],
      ['etag', task.etag],
    ],
    style,
  );
  return joinSections(
    style.bold(oneLine(task.title)),
    facts,
    section('Body', task.body, style),
    section('Result', task.result, style),
  );
}

/** What a task waits for, a line each. */
export function unmetText(unmet: readonly UnmetDependency[], style: Style): string {
  const lines = unmet.map(({ taskId, title, status, holder }) => {
    const who = holder ? `, held by ${holderText(holder)}` : '';
    return `${taskId}  ${TaskStatus[status]}${who}  ${title}`;
  });
  return section('Waits for', lines.map(oneLine).join('\n'), style);
}

/** Notes, newest first. */
export function notesText(notes: readonly Note[], style: Style): string {
  const texts = notes.map(({ author, createdAt, text }) => {
    return `${style.dim(`${moment(createdAt)} ${oneLine(author)}`)}\n${indented(printable(text))}`;
  });
  return texts.length === 0 ? '' : `${style.bold('Notes')}\n${indented(texts.join('\n'))}`;
}

/** A heading and text of several lines; nothing without text. */
export function section(heading: string, text: string, style: Style): string {
  return text === '' ? '' : `${style.bold(heading)}\n${indented(printable(text))}`;
}

/** Sections with an empty line between them. */
export function joinSections(...sections: string[]): string {
  return sections.filter((text) => text !== '').join('\n\n');
}
